// Pictures and reports of particles that a pipeline moves.
#pragma once
#include "examples/nbody/options.h"

namespace examples {

// Writes frames and movies, or opens the viewer, and prints a line at each report. Throws as Motion, Frames and show().
void run_pipeline(const Options& options);

}  // namespace examples
