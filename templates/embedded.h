// The text of a file of templates/, embedded in the library; empty if there is no file of that name.
#pragma once
#include <string_view>

namespace nbcc {
std::string_view embedded_template(std::string_view name);
}  // namespace nbcc
