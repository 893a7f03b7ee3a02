// Formats fields as lines of text or as JSON. Prints nothing.
#include "cli/report/field_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/ir/ir.h"

namespace nbcc {
namespace {

// "output(sum)", "input_j", ...
std::string role_of(const FieldLayout& field) {
  return field.role == Role::Output ? fmt::format("output({})", reduction_text(field)) : std::string(name(field.role));
}

}  // namespace

std::string field_lines(const std::vector<FieldLayout>& fields, std::size_t role_width) {
  std::size_t types = 0, names = 0;
  for (const FieldLayout& field : fields) {
    role_width = std::max(role_width, role_of(field).size());
    types = std::max(types, type_name(field).size());
    names = std::max(names, field.name.size());
  }
  std::string text;
  for (const FieldLayout& field : fields) {
    std::string line =
        fmt::format("  {:<{}}  {:<{}}  {:<{}}", role_of(field), role_width, type_name(field), types, field.name, names);
    if (!field.defaults.empty()) line += fmt::format(" = {}", fmt::join(field.defaults, ", "));
    if (!field.comment.empty()) line += "  " + field.comment;
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

nlohmann::ordered_json json_of(const std::vector<FieldLayout>& fields, bool reduction_beside) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FieldLayout& field : fields) {
    const bool beside = reduction_beside && field.role == Role::Output;
    nlohmann::ordered_json entry = {{"name", field.name},
                                    {"role", beside ? "output" : role_of(field)},
                                    {"type", type_name(field)},
                                    {"components", field.numbers()}};
    if (beside) entry["reduction"] = name(field.reduction);
    if (!field.defaults.empty()) entry["default"] = field.defaults;
    if (!field.comment.empty()) entry["comment"] = field.comment;
    list.push_back(entry);
  }
  return list;
}

}  // namespace nbcc
