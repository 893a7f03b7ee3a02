// The templates as data. Empty when there is none of that name.
#pragma once
#include <string_view>

namespace nbcc {
std::string_view embedded_template(std::string_view name);
}  // namespace nbcc
