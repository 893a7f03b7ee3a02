// What the command line asks for.
#pragma once
#include <optional>
#include <string>

#include "examples/hermite/experiments.h"

namespace examples {

struct Options {
  std::string bodies, device = "cpu", output, experiment;
  HermiteSettings settings;
  ExperimentSettings of_experiment;
  double end = 1, every = 0, smallest_step = 0, fixed_step = 0;  // 0: not given
  bool at_rest = false, is_json = false, is_long = false, tells_return = false, tells_forces = false;
};

// Nothing if the program is to end with exit_code: after --help, or a mistake, which has been told.
std::optional<Options> parse_options(int count, char** words, int& exit_code);

}  // namespace examples
