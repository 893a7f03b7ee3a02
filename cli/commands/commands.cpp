// The list of subcommands. Entry points: add_commands() and spell_command_line(). Knows no options of subcommands.
#include "cli/commands/commands.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/machine/programs.h"
#include "cli/machine/versions.h"
#include "cli/report/standard_output.h"
#include "runtime/api/nbcc.h"

namespace nbcc {

void add_commands(CLI::App& app, Invocation& invocation) {
  app.description("Turns the text of a pairwise interaction into fast sums over particles.");
  app.footer(
      "Exit codes: 0 done, 1 the pipeline has errors or verify found some, 2 wrong use or a file that cannot be read "
      "or\n"
      "written, 3 no device or a tool is missing, 101 a bug in nbcc.\n"
      "\nExamples:\n"
      "  nbcc make-ic plummer --n 16384 -o plummer.npz\n"
      "  nbcc run gravity --i plummer.npz -o forces.npz\n"
      "  nbcc run --help");
  CLI::Option* json =
      app.add_flag("--json")->description("With --version: an object that lists nbcc and the libraries in it");
  json->needs(app.set_version_flag("--version", [json] {
    return json->count() > 0 ? json_text(versions()) : std::string("nbcc ") + nbcc_version();
  }));
  app.require_subcommand(0, 1);
  for (const auto add :
       {add_check, add_emit, add_compile, add_inspect, add_run, add_verify, add_bench, add_tune, add_make_ic,
        add_lammps_plugin, add_list, add_show, add_fmt, add_lsp, add_info, add_doctor, add_cache, add_completion}) {
    add(app, invocation);
  }
}

std::string spell_command_line(int count, const char* const* words) {
  std::string line;
  for (int k = 0; k < count; ++k) {
    const std::string word = words[k];
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                            "0123456789_-+=./,:@%") == std::string::npos;
    const std::string bare = k == 0 ? word.substr(word.find_last_of('/') + 1) : word;
    line += (k == 0 ? "" : " ") + (plain ? bare : shell_word(bare));
  }
  return line;
}

}  // namespace nbcc
