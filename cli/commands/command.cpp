// Parses the command line, runs one subcommand, and turns exceptions into a message and an exit code. Entry point:
// nbcc_command(). Subcommands are implemented in command_<name>.cpp.
#include "cli/commands/command.h"

#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

#include "cli/commands/commands.h"
#include "cli/options/meant_words.h"
#include "cli/report/failure.h"
#include "cli/report/standard_output.h"
#include "runtime/cuda/driver/nvrtc.h"
#include "runtime/cuda/driver/nvrtc_processes.h"

int nbcc_command(int argc, char** argv) {
  // If a result exceeds the limit of file sizes (ulimit -f), the write must fail with an error instead of a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    if (argc == 4 && argv[1] == std::string_view(nbcc::kServeNvrtc)) {
      // This process belongs to another one (runtime/cuda/driver/nvrtc_processes.h).
      const std::string file = argv[2], folder = std::filesystem::path(file).parent_path();
      return nbcc::serve_nvrtc(*nbcc::open_nvrtc({{file, {folder}}}), argv[3], 0);
    }
    CLI::App app("", "nbcc");
    nbcc::Invocation invocation;
    invocation.command_line = nbcc::spell_command_line(argc, argv);
    nbcc::add_commands(app, invocation);
    try {
      app.parse(argc, argv);  // also runs the subcommand
    } catch (const CLI::ParseError& problem) {
      std::ostringstream product, message;
      const int code = app.exit(problem, product, message);
      if (code == 0) nbcc::write_standard_output(product.str());  // --help, --version
      fmt::print(stderr, "{}{}", message.str(), code == 0 ? "" : nbcc::meant_words(app, {argv + 1, argv + argc}));
      return code == 0 ? nbcc::kDone : nbcc::kUsage;
    }
    if (!app.get_subcommands().empty()) return invocation.exit_code;
    fmt::print(stderr, "{}", app.help());
    return nbcc::kUsage;
  } catch (...) {
    return nbcc::report_failure();
  }
}
