// The pipelines of the library and of the programs, as they were when these were built: a program needs no file beside
// itself, wherever it is installed or copied.
#pragma once
#include <string>

#include "examples/support/failure.h"

namespace examples {

// By its place in the project, as "pipelines/gravity_jerk.pipe". Throws UsageError for one that is not there.
std::string pipeline_text(const std::string& file);

}  // namespace examples
