// nbcc make-ic: writes a file of initial conditions. initial_conditions.cpp makes the particles; potential_energy.cpp
// sums the energy by which a Plummer sphere is scaled.
#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/potential_energy.h"
#include "cli/options/kernel_options.h"
#include "cli/report/save_table.h"
#include "particles/initial_conditions/initial_conditions.h"
#include "particles/numbers.h"

namespace nbcc {
namespace {

struct MakeIcOptions {
  std::string kind;
  std::string count = "0";
  std::uint64_t seed = 1;
  InitialConditionOptions sampling;
  bool scale = true;
  KernelChoice kernel;  // for the sum of the potential energy
  OutputChoice output;
};

void run_make_ic(const MakeIcOptions& options, const std::string& command_line) {
  check_writable(options.output.path, options.output.write);
  ParticleTable table =
      make_initial_conditions(options.kind, parse_count(options.count, "--n"), options.seed, options.sampling);
  if (options.scale && options.kind == "plummer" && table.rows > 1)
    scale_to_virial(table, potential_energy(table, options.kernel));
  save_table(options.output, std::move(table), command_line);
}

}  // namespace

void add_make_ic(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<MakeIcOptions>();
  CLI::App& command = *app.add_subcommand("make-ic", "Make initial conditions");
  std::vector<std::string> kinds;
  std::string listing;
  for (const InitialConditionKind& kind : initial_condition_kinds()) {
    kinds.emplace_back(kind.name);
    listing += fmt::format("  {:<13} {}\n", kind.name, kind.summary);
  }
  command.add_option("KIND", options->kind, "The kind of initial conditions")->required()->check(CLI::IsMember(kinds));
  command.add_option("-n,--n", options->count, "Number of particles (plummer, cube, disc, collision)")->type_name("N");
  command.add_option("--seed", options->seed, "The same seed gives the same particles everywhere")
      ->capture_default_str();
  command.add_flag(
      "!--no-scale", options->scale,
      "plummer: keep the energies of the random sample; do not scale to K = 1/4, U = -1/2, which needs a sum over "
      "all pairs: 10 s for 10^5 particles on two cores");
  declare_device(command, options->kernel);
  declare_threads(command, options->kernel);
  command
      .add_option("--radius", options->sampling.truncation_radius, "plummer: no particle starts farther out than this")
      ->capture_default_str();
  command
      .add_option("--toomre-q", options->sampling.galaxy.toomre_q,
                  "disc, collision: the least Toomre Q of a disc; below about 1 it falls apart into clumps")
      ->capture_default_str();
  declare_output_options(command, options->output);
  command.footer("Kinds:\n" + listing +
                 "\nExamples:\n"
                 "  nbcc make-ic plummer --n 16384 --seed 1 -o plummer.npz\n"
                 "  nbcc make-ic collision --n 16384 --seed 1 -o galaxies.txt\n"
                 "  nbcc make-ic solar-system -o planets.txt");
  command.callback([=, &invocation] { run_make_ic(*options, invocation.command_line); });
}

}  // namespace nbcc
