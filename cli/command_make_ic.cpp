// A kind, a number and a seed -> a particle file. Doors: declare_make_ic(), run_make_ic(). The particles themselves
// come from initial_conditions.cpp.
#include "cli/command_make_ic.h"

#include <fmt/core.h>

#include <CLI/Validators.hpp>

#include "cli/exit_code.h"
#include "cli/save_table.h"
#include "particles/numbers.h"

namespace nbcc {

void declare_make_ic(CLI::App& app, MakeIcOptions& options) {
  std::vector<std::string> kinds;
  std::string listing;
  for (const InitialConditionKind& kind : initial_condition_kinds()) {
    kinds.emplace_back(kind.name);
    listing += fmt::format("  {:<13} {}\n", kind.name, kind.summary);
  }
  app.add_option("KIND", options.kind, "What to make")->required()->check(CLI::IsMember(kinds));
  app.add_option("-n,--n", options.count, "Number of particles (plummer, cube)")->type_name("N");
  app.add_option("--seed", options.seed, "The same seed gives the same particles everywhere")->capture_default_str();
  app.add_flag("!--no-scale", options.sampling.scale_to_virial,
               "plummer: leave the sample's own energies, do not scale to K = 1/4, U = -1/2");
  app.add_option("--radius", options.sampling.truncation_radius, "plummer: no particle starts farther out than this")
      ->capture_default_str();
  declare_output_options(app, options.output, options.format, options.force);
  app.footer("Kinds:\n" + listing +
             "\nExamples:\n"
             "  nbcc make-ic plummer --n 16384 --seed 1 -o plummer.npz\n"
             "  nbcc make-ic solar-system -o planets.txt");
}

int run_make_ic(const MakeIcOptions& options) {
  check_writable(options.output, {options.force, options.format});
  ParticleTable table =
      make_initial_conditions(options.kind, parse_count(options.count, "--n"), options.seed, options.sampling);
  save_table(options.output, std::move(table), {options.force, options.format}, options.command_line);
  return kDone;
}

}  // namespace nbcc
