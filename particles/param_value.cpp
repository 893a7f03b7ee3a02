// Words of the command line -> values of params. The doors are in the header. Whether a param of that name exists is
// not asked here.
#include "particles/param_value.h"

#include <fmt/core.h>

#include <optional>

#include "particles/numbers.h"
#include "particles/particle_files.h"
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
    param.values = read_numbers(std::string(text.substr(equals + 2)));
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

std::vector<ParamValue> parse_params(const std::vector<std::string>& texts) {
  std::vector<ParamValue> params;
  for (const std::string& text : texts) params.push_back(parse_param(text));
  return params;
}

}  // namespace nbcc
