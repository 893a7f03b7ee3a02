// Parses values of params. The entry points are declared in the header. Does not check that the pipeline has such a
// param.
#include "particles/files/param_value.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "particles/files/particle_files.h"
#include "particles/numbers.h"
#include "runtime/error.h"

namespace nbcc {

ParamValue parse_param(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    throw UsageError(fmt::format("--param: '{}' is not of the form name=value (as eps2=1e-4 or box=10,10,10)", text));
  }
  ParamValue param{std::string(text.substr(0, equals)), {}};
  if (text[equals + 1] == '@') {
    if (equals + 2 == text.size())
      throw UsageError(fmt::format("--param: '{}' names no file: write {}=@FILE", text, param.name));
    NumberRows numbers = read_numbers(std::string(text.substr(equals + 2)));
    param.values = std::move(numbers.values);
    param.rows = numbers.rows;
    param.warnings = std::move(numbers.warnings);
    return param;
  }
  for (const std::string_view word : split(text.substr(equals + 1), ',')) {
    const bool truth = word == "true" || word == "false";
    param.truth = param.truth || truth;
    const std::optional<double> value = truth ? std::optional<double>(word == "true") : parse_double(word);
    if (!value) throw UsageError(fmt::format("--param {}: '{}' is not a number", param.name, word));
    param.values.push_back(*value);
  }
  return param;
}

void check_rows(const ParamValue& param, const std::string& type) {
  // The lengths of the axes: 2, 3 and 2 for "vec2[2][3]".
  std::vector<std::int64_t> axes;
  for (std::size_t at = type.find('['); at != std::string::npos; at = type.find('[', at + 1))
    axes.push_back(std::stoll(type.substr(at + 1)));
  if (type.starts_with("vec")) axes.push_back(type[3] - '0');
  if (type.starts_with("complex")) axes.push_back(2);
  if (param.rows == 0 || axes.size() < 2) return;
  const std::int64_t count = std::int64_t(param.values.size()), row = count / param.rows;
  bool ends_with_an_axis = row == 1;
  std::int64_t numbers = 1;  // product of the lengths of the last axes
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    numbers *= *axis;
    ends_with_an_axis = ends_with_an_axis || row == numbers;
  }
  if (numbers == count && !ends_with_an_axis)
    throw UsageError(fmt::format("--param {}: it is a {}, with rows of {}; the file has {} rows of {}", param.name,
                                 type, axes.back(), param.rows, row));
}

std::vector<ParamValue> parse_params(const std::vector<std::string>& texts) {
  std::vector<ParamValue> params;
  for (const std::string& text : texts) params.push_back(parse_param(text));
  return params;
}

}  // namespace nbcc
