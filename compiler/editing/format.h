// The text of a pipeline -> the same tokens and comments with blanks and line breaks in one style. Entry point:
// formatted(). It does not parse: a text with errors is formatted too. Tested by
// tests/unit/compiler/editing/format_test.cpp.
#pragma once
#include <string>
#include <string_view>

namespace nbcc {

// Lines have at most 120 characters, but for comments, which are kept. Lines between `// clang-format off` and
// `// clang-format on` are not changed. formatted(formatted(text)) is formatted(text).
std::string formatted(std::string_view text);

}  // namespace nbcc
