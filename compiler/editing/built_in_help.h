// A built-in word -> one line about it, for editors. The words are those of compiler/source/vocabulary.h; a test
// compares both lists. Entry point: built_in_help(). Tested by tests/unit/compiler/editing/built_in_help_test.cpp.
#pragma once
#include <span>
#include <string_view>

namespace nbcc {

struct BuiltInHelp {
  std::string_view word, help;
};

// Functions, constants, types, roles, and the options of output().
std::span<const BuiltInHelp> built_in_help();

// "" for a word that is not built in. `after_output`: the word is an option of output(), as in output(min).
std::string_view built_in_help(std::string_view word, bool after_output = false);

}  // namespace nbcc
