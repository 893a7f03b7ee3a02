// The command line -> one of the subcommands and its exit code. Each subcommand is a file, command_<name>.cpp, whose
// one door adds it to the command line: its options, their help, and what is done once all of the line has been read.
#pragma once
#include <CLI/CLI.hpp>  // all of it: App.hpp alone leaves vtables undefined
#include <memory>
#include <string>

namespace nbcc {

class KernelDevice;

// What subcommands know of the whole command, and what they leave to it.
struct Invocation {
  std::string command_line;              // with which results are marked
  std::shared_ptr<KernelDevice> device;  // for `tune` and `bench --sweep`, in place of the one that --device names
  int exit_code = 0;
};

void add_bench(CLI::App& app, Invocation& invocation);
void add_cache(CLI::App& app, Invocation& invocation);
void add_check(CLI::App& app, Invocation& invocation);
void add_compile(CLI::App& app, Invocation& invocation);
void add_completion(CLI::App& app, Invocation& invocation);
void add_doctor(CLI::App& app, Invocation& invocation);
void add_emit(CLI::App& app, Invocation& invocation);
void add_info(CLI::App& app, Invocation& invocation);
void add_inspect(CLI::App& app, Invocation& invocation);
void add_make_ic(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);
void add_tune(CLI::App& app, Invocation& invocation);
void add_verify(CLI::App& app, Invocation& invocation);

// All of them, in the order of the help.
void add_commands(CLI::App& app, Invocation& invocation);

// The words as one would type them again into a shell.
std::string spell_command_line(int count, const char* const* words);

}  // namespace nbcc
