// A template's text with its holes filled. A hole is @{name}; every hole must be given and every value used, and a
// value is never looked at again, so that text which happens to contain a hole does no harm.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace nbcc {
// Throws InternalError naming the template and the hole that is unknown, unused or unterminated. A hole that stands
// alone on its line is replaced with its value's lines, indented like the hole, or with nothing if the value is empty.
std::string fill_template(std::string_view template_name, const std::map<std::string, std::string>& holes);
// As above, on a text in place of an embedded template; `name` appears in errors.
std::string fill_text(std::string_view name, std::string_view text, const std::map<std::string, std::string>& holes);
}  // namespace nbcc
