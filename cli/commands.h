// The subcommands, all of them in one place.
#pragma once
#include <CLI/CLI.hpp>  // all of it: App.hpp alone leaves vtables undefined
#include <functional>
#include <string>

namespace nbcc {

// Declares every subcommand on `app`. After app.parse() the function in *chosen runs the one that was asked for and
// returns the exit code. `command_line` is what results are marked with.
void declare_commands(CLI::App& app, const std::string& command_line, std::function<int()>* chosen);

// The words as one would type them again into a shell.
std::string spell_command_line(int count, const char* const* words);

}  // namespace nbcc
