// Template and values -> text. Entry points: fill_template(), fill_text(), declarations_of(). Templates have no loops
// and no conditions: logic is C++.
#include "compiler/text/fill_template.h"

#include <fmt/core.h>

#include <set>

#include "compiler/text/diagnostic.h"
#include "templates/embedded.h"

namespace nbcc {
namespace {

// The value with every line but the first indented by `indent`; empty lines and preprocessor lines are not indented.
std::string indented(const std::string& value, std::string_view indent) {
  std::string result;
  for (std::size_t k = 0; k < value.size(); ++k) {
    result += value[k];
    if (value[k] == '\n' && k + 1 < value.size() && value[k + 1] != '\n' && value[k + 1] != '#') result += indent;
  }
  while (!result.empty() && result.back() == '\n') result.pop_back();
  return result;
}

}  // namespace

std::string fill_text(std::string_view name, std::string_view text, const std::map<std::string, std::string>& holes) {
  std::string result;
  std::set<std::string> used;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find("@{", at);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos || text.substr(open, close - open).find('\n') != std::string_view::npos)
      throw InternalError(fmt::format("template {}: a hole is not terminated", name));
    const std::string hole(text.substr(open + 2, close - open - 2));
    const auto value = holes.find(hole);
    if (value == holes.end()) throw InternalError(fmt::format("template {}: no value for the hole '{}'", name, hole));
    used.insert(hole);
    const std::size_t previous_line = text.rfind('\n', open);
    const std::size_t line_start = previous_line == std::string_view::npos ? 0 : previous_line + 1;
    const std::string_view before = text.substr(line_start, open - line_start);
    const bool alone =
        before.find_first_not_of(' ') == std::string_view::npos && close + 1 < text.size() && text[close + 1] == '\n';
    if (alone && value->second.empty()) {
      result += text.substr(at, line_start - at);
      at = close + 2;
      continue;
    }
    result += text.substr(at, open - at);
    result += alone ? indented(value->second, before) : value->second;
    at = close + 1;
  }
  result += text.substr(at);
  for (const auto& [hole, value] : holes)
    if (!used.count(hole)) throw InternalError(fmt::format("template {}: the value '{}' fits no hole", name, hole));
  return result;
}

std::string fill_template(std::string_view template_name, const std::map<std::string, std::string>& holes) {
  const std::string_view text = embedded_template(template_name);
  if (text.empty()) throw InternalError(fmt::format("there is no template '{}'", template_name));
  return fill_text(template_name, text, holes);
}

std::string declarations_of(std::string_view header_name, std::string_view section) {
  const std::string text = fill_template(header_name, {}), mark = fmt::format("// kernel source: {}\n", section);
  const std::size_t at = text.find(mark), end = text.find("// end of kernel source\n", at);
  if (at == std::string::npos || end == std::string::npos)
    throw InternalError(fmt::format("template {}: there is no section '{}'", header_name, section));
  return text.substr(at + mark.size(), end - at - mark.size());
}

}  // namespace nbcc
