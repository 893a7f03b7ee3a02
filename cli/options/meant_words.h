// What misspelled words of a command line were probably meant to be. Entry point: meant_words(). Tested by
// tests/unit/cli/commands/command_library_test.cpp.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace nbcc {

// "Did you mean 'run'?\n" for each word that is no subcommand, no option, or no value that its option takes, and that
// is near to one. `words`: without the program's name.
std::string meant_words(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace nbcc
