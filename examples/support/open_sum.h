// Pipelines by their place in the project.
#pragma once
#include <string>

#include "runtime/nbcc.hpp"

namespace examples {

// The sum of a pipeline, as "pipelines/gravity_jerk.pipe". Throws nbcc::Error.
inline nbcc::Sum open_sum(const nbcc::Device& device, const std::string& file, nbcc_precision precision) {
  return nbcc::Sum(nbcc::Pipeline::from_file(device, NBCC_SOURCE_DIR "/" + file, {.precision = precision}));
}

}  // namespace examples
