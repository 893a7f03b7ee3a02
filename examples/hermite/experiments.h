// The experiments of S. Portegies Zwart, R. Belleman & P. Geldof, New Astronomy 12 (2007) 641, on Plummer spheres in
// standard units, over a quarter of a unit of time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "examples/hermite/hermite.h"

namespace examples {

struct ExperimentSettings {
  std::int64_t largest = 4096;                                               // bodies
  std::vector<std::int64_t> sizes{1024};                                     // bodies
  std::vector<double> etas{0.16, 0.04, 0.01, 0.0025, 0.000625, 0.00015625};  // accuracies
  std::string picture;
  int runs = 1;      // table2: of different seeds, of which the table has the means
  double begin = 0;  // table2: the time from which a quarter of a unit is measured
};

// table2, phases, figure2 or model, printed as a table. Throws nbcc::Error, and std::runtime_error if the picture
// cannot be written.
void run_experiment(const std::string& name, const nbcc::Device& device, const HermiteSettings& settings,
                    const ExperimentSettings& experiment);

struct Measured {
  double error;  // of the energy, relative
  Statistics statistics;
};
// A Plummer sphere of so many bodies over the quarter of a unit of time that begins at `begin`, a multiple of the
// largest step that divides the quarter.
Measured measure(const nbcc::Device& device, std::int64_t count, HermiteSettings settings, std::uint64_t seed = 1,
                 double begin = 0);

}  // namespace examples
