// The subcommands of nbcc. Each subcommand is a file, command_<name>.cpp, with one function that declares the
// subcommand: its options, their help, and the callback that runs it after the command line has been parsed.
#pragma once
#include <CLI/CLI.hpp>  // not only App.hpp, which leaves vtables undefined
#include <memory>
#include <string>

namespace nbcc {

class KernelDevice;

// Data shared by main() and the subcommands.
struct Invocation {
  std::string command_line;              // recorded in result files
  std::shared_ptr<KernelDevice> device;  // if set, `tune` and `bench --sweep` use it instead of --device (for tests)
  int exit_code = 0;
};

void add_bench(CLI::App& app, Invocation& invocation);
void add_cache(CLI::App& app, Invocation& invocation);
void add_check(CLI::App& app, Invocation& invocation);
void add_compile(CLI::App& app, Invocation& invocation);
void add_completion(CLI::App& app, Invocation& invocation);
void add_doctor(CLI::App& app, Invocation& invocation);
void add_emit(CLI::App& app, Invocation& invocation);
void add_fmt(CLI::App& app, Invocation& invocation);
void add_lammps_plugin(CLI::App& app, Invocation& invocation);
void add_list(CLI::App& app, Invocation& invocation);
void add_show(CLI::App& app, Invocation& invocation);
void add_info(CLI::App& app, Invocation& invocation);
void add_inspect(CLI::App& app, Invocation& invocation);
void add_lsp(CLI::App& app, Invocation& invocation);
void add_make_ic(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);
void add_tune(CLI::App& app, Invocation& invocation);
void add_verify(CLI::App& app, Invocation& invocation);

// Declares all subcommands, in the order of the help.
void add_commands(CLI::App& app, Invocation& invocation);

// Joins the words of a command line, quoted for a shell.
std::string spell_command_line(int count, const char* const* words);

}  // namespace nbcc
