// The list of subcommands: each is a name, a sentence, and two functions of its own file. Doors: declare_commands() and
// spell_command_line(). Knows no option of any of them.
#include "cli/commands.h"

#include <fmt/core.h>

#include <memory>

#include "cli/command_bench.h"
#include "cli/command_cache.h"
#include "cli/command_check.h"
#include "cli/command_compile.h"
#include "cli/command_completion.h"
#include "cli/command_emit.h"
#include "cli/command_info.h"
#include "cli/command_inspect.h"
#include "cli/command_make_ic.h"
#include "cli/command_run.h"
#include "cli/command_tune.h"
#include "cli/command_verify.h"
#include "runtime/api/nbcc.h"

namespace nbcc {

void declare_commands(CLI::App& app, const std::string& command_line, std::function<int()>* chosen) {
  app.description("Turns the text of a pairwise interaction into fast sums over particles.");
  app.footer(
      "Exit codes: 0 done, 1 the pipeline has errors or verify found some, 2 wrong use or a file that cannot be read "
      "or\n"
      "written, 3 no device or a tool is missing, 101 a bug in nbcc.\n"
      "\nExamples:\n"
      "  nbcc make-ic plummer --n 16384 -o plummer.npz\n"
      "  nbcc run pipelines/gravity.pipe --i plummer.npz -o forces.npz\n"
      "  nbcc run --help");
  app.set_version_flag("--version",
                       fmt::format("nbcc {}.{}.{}", NBCC_VERSION_MAJOR, NBCC_VERSION_MINOR, NBCC_VERSION_PATCH));
  app.require_subcommand(0, 1);

  const auto add = [&]<typename Options>(const char* name, const char* sentence, void (*declare)(CLI::App&, Options&),
                                         int (*run)(const Options&)) {
    const auto options = std::make_shared<Options>();
    if constexpr (requires { options->command_line; }) options->command_line = command_line;
    if constexpr (requires { options->application; }) options->application = &app;
    CLI::App* const command = app.add_subcommand(name, sentence);
    declare(*command, *options);
    command->callback([=] { *chosen = [=] { return run(*options); }; });
  };
  add("check", "Say what is wrong with pipelines, and what they are", declare_check, run_check);
  add("emit", "Show a stage of a pipeline's way to machine code", declare_emit, run_emit);
  add("compile", "Make a library of pipelines, for C, C++ and Fortran", declare_compile, run_compile);
  add("inspect", "Show what a library made by compile holds", declare_inspect, run_inspect);
  add("run", "Sum a pipeline over particles from files", declare_run, run_run);
  add("verify", "Compare a device's sums with the double-precision oracle", declare_verify, run_verify);
  add("bench", "Measure how fast a pipeline runs", declare_bench, run_bench);
  add("tune", "Find the fastest kernels for a GPU, and keep them for later runs", declare_tune, run_tune);
  add("make-ic", "Make a set of particles to begin with", declare_make_ic, run_make_ic);
  add("info", "Show what this nbcc is and what it finds on this machine", declare_info, run_info);
  add("cache", "List or remove the compiled kernels and the tunings on disk", declare_cache, run_cache);
  add("completion", "Print a script that completes nbcc's words in a shell", declare_completion, run_completion);
}

std::string spell_command_line(int count, const char* const* words) {
  std::string line;
  for (int k = 0; k < count; ++k) {
    std::string word = words[k];
    if (k == 0) word = word.substr(word.find_last_of('/') + 1);
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                            "0123456789_-+=./,:@%") == std::string::npos;
    if (!plain) {
      std::string quoted = "'";
      for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
      word = quoted + "'";
    }
    line += (k == 0 ? "" : " ") + word;
  }
  return line;
}

}  // namespace nbcc
