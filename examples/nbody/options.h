// What the user wants.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "examples/nbody/frames.h"
#include "examples/nbody/pipeline/motion.h"
#include "examples/nbody/simulation.h"
#include "examples/nbody/viewer.h"

namespace CLI {
class App;
}

namespace examples {

struct Options {
  std::string bodies, device = "cpu", checkpoint, snapshots;
  Settings settings;
  std::optional<double> G{};  // of --G
  double dt = 1.0 / 1024, end = 1, every = 0.125;
  bool mpi = false;  // bodies are spread over the processes of mpirun
  bool at_rest = false, restart = false, quiet = false;

  FrameChoice frames;
  double frame_every = 0;  // 0: as `every`
  bool wants_frames() const { return !frames.folder.empty() || !frames.movie.empty(); }

  bool viewer = false;
  ViewerChoice view;

  PipelineChoice pipeline;  // of a file: its particles, in place of gravity

  bool compare = false;  // simulators

  bool benchmark = false;
  std::vector<std::int64_t> counts;  // of bodies, for the benchmark
  bool benchmark_draws = false;      // pictures a second, not the rate of the force
};

void add_options(CLI::App& app, Options& options);
// What is not given, but follows. Throws UsageError if they do not go together.
void complete(Options& options);

}  // namespace examples
