// What Clang says about a text, in the words of the language: Clang speaks of C++ classes, overloads and typedefs,
// which the user has not written. Pure text; nothing of Clang is needed here.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace nbcc {
// `line` is the source line of the message and `column` (from 1) the place in it; `own_names` are those of built-in
// functions that the text has for something else.
std::string reword(std::string message, std::string_view line, int column,
                   const std::set<std::string, std::less<>>& own_names);
}  // namespace nbcc
