// The nbcc command: reads the command line, runs one subcommand, turns what went wrong into a message and an exit code.
// What a subcommand does is in command_<name>.cpp.
#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <sstream>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/failure.h"
#include "cli/standard_output.h"

int main(int argc, char** argv) {
  // A result that outgrows the limit on the size of files (ulimit -f) is an error of that file, not the end of the
  // command.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    CLI::App app("", "nbcc");
    std::function<int()> chosen;
    nbcc::declare_commands(app, nbcc::spell_command_line(argc, argv), &chosen);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& problem) {
      std::ostringstream product, message;
      const int code = app.exit(problem, product, message);
      if (code == 0) nbcc::write_standard_output(product.str());  // --help, --version
      fmt::print(stderr, "{}", message.str());
      return code == 0 ? nbcc::kDone : nbcc::kUsage;
    }
    if (!chosen) {
      fmt::print(stderr, "{}", app.help());
      return nbcc::kUsage;
    }
    // From here on the words are right; whether the files and the devices are there, the subcommand sees.
    return chosen();
  } catch (...) {
    return nbcc::report_failure();
  }
}
