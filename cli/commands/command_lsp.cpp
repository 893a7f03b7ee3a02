// nbcc lsp: the server that editors start, on standard input and output.
#include <unistd.h>

#include <csignal>

#include "cli/commands/commands.h"
#include "cli/lsp/language_server.h"

namespace nbcc {

void add_lsp(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      *app.add_subcommand("lsp", "Serve an editor by the Language Server Protocol, on standard input and output");
  const auto ignored = std::make_shared<bool>();
  command.add_flag("--stdio", *ignored, "No effect: some editors give it");
  command.footer(
      "Editors start this command: docs/how_to/editors.md shows how.\n"
      "\nExamples:\n"
      "  nbcc lsp\n"
      "  nvim -c \"lua vim.lsp.start_client({ cmd = { 'nbcc', 'lsp' } })\"");
  command.callback([&invocation] {
    std::signal(SIGPIPE, SIG_IGN);  // an editor that is gone is an error of write()
    invocation.exit_code = run_language_server(STDIN_FILENO, STDOUT_FILENO);
  });
}

}  // namespace nbcc
