// Rewords Clang's messages in terms of the language: Clang's messages are about C++ classes, overloads and typedefs,
// which the user has not written. Works on strings only, without Clang.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace nbcc {
// `line` is the source line of the message, `column` (from 1) its position in that line; `own_names` are the names of
// built-in functions that the text declares as its own.
std::string reword(std::string message, std::string_view line, int column,
                   const std::set<std::string, std::less<>>& own_names);
}  // namespace nbcc
