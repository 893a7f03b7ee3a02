// Fills the holes of a template. A hole is @{name}. Every hole needs a value and every value must be used. Values are
// not scanned for holes.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace nbcc {
// Throws InternalError naming the template and the hole that is unknown, unused or unterminated. A hole that is
// alone on its line is replaced by its value's lines, indented like the hole; if the value is empty, the line is
// removed.
std::string fill_template(std::string_view template_name, const std::map<std::string, std::string>& holes);
// The same for a given text instead of an embedded template; `name` appears in errors.
std::string fill_text(std::string_view name, std::string_view text, const std::map<std::string, std::string>& holes);
// The lines of an embedded header after `// kernel source: SECTION`, without the end mark: declarations that the host
// and a kernel share. Throws InternalError if the header has no such section.
std::string declarations_of(std::string_view header_name, std::string_view section);
}  // namespace nbcc
