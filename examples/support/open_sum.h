// Pipelines by their place in the project.
#pragma once
#include <string>

#include "examples/support/pipeline_text.h"
#include "runtime/api/nbcc.hpp"

namespace examples {

// A pipeline, as "pipelines/gravity_jerk.pipe". Throws nbcc::Error.
inline nbcc::Pipeline open_pipeline(const nbcc::Device& device, const std::string& file, nbcc_precision precision) {
  return nbcc::Pipeline::from_text(device, pipeline_text(file), file, {.precision = precision});
}

// The sum of one.
inline nbcc::Sum open_sum(const nbcc::Device& device, const std::string& file, nbcc_precision precision) {
  return nbcc::Sum(open_pipeline(device, file, precision));
}

}  // namespace examples
