// What the command line asks for.
#pragma once
#include <optional>
#include <string>

#include "examples/hermite/experiments.h"

namespace CLI {
class App;
}

namespace examples {

struct Options {
  std::string bodies, device = "cpu", output, experiment;
  HermiteSettings settings;
  ExperimentSettings of_experiment;
  std::optional<double> G{};                                     // of --G
  double end = 1, every = 0, smallest_step = 0, fixed_step = 0;  // 0: not given
  bool at_rest = false, is_json = false, is_long = false, tells_return = false, tells_forces = false;
  bool mpi = false;  // bodies are spread over the processes of mpirun
};

void add_options(CLI::App& app, Options& options);
// Throws UsageError if they do not go together.
void require_sense(const Options& options);

}  // namespace examples
