// Options -> a run of a pipeline's particles. Entry point: run_pipeline().
#include "examples/nbody/pipeline/run_pipeline.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "examples/support/program.h"

namespace examples {
namespace {

void print_report(double time, const Motion& motion) {
  const Bodies bodies = motion.bodies();
  double square = 0;
  for (const double component : bodies.v) square += component * component;
  std::printf("%10.4f %14.6g", time, std::sqrt(square / double(std::max<std::int64_t>(1, bodies.count()))));
  if (const std::vector<double> values = motion.values(); !values.empty()) {
    const auto [least, most] = finite_range(values);
    std::printf(" %14.6g %14.6g", least, most);
  }
  std::printf("\n");
  std::fflush(stdout);
}

std::int64_t stride(double time, double dt) { return std::max<std::int64_t>(1, std::llround(time / dt)); }

}  // namespace

void run_pipeline(const Options& options) {
  const Columns columns = read_columns(options.bodies);
  const auto make_motion = [&](const nbcc::Device& device) {
    return std::make_unique<Motion>(device, columns, options.pipeline, options.settings.precision,
                                    options.settings.tolerance);
  };
  if (options.viewer) {
    State start;
    start.bodies = bodies_of(columns);
    return show({start, options.dt, options.device, options.settings, make_motion}, options.view, options.frames);
  }
  const nbcc::Device device(options.device);
  const std::unique_ptr<Motion> motion = make_motion(device);
  std::optional<Frames> frames;
  if (options.wants_frames()) frames.emplace(options.frames, device, motion->bodies());
  const bool has_values = options.pipeline.colour != "speed";
  std::printf("# %lld particles of %s on %s, %s precision, dt = %g\n#%9s %14s", static_cast<long long>(motion->count()),
              options.pipeline.file.c_str(), device.name().c_str(), name_of(options.settings.precision), options.dt,
              "time", "rms speed");
  if (has_values) std::printf(" %14s %14s   of %s", "least", "most", options.pipeline.colour.c_str());
  std::printf("\n");
  const std::int64_t last = std::llround(options.end / options.dt);
  const std::int64_t reports = stride(options.every, options.dt), pictures = stride(options.frame_every, options.dt);
  for (std::int64_t step = 0;; ++step) {
    if (step % reports == 0 || step == last) print_report(double(step) * options.dt, *motion);
    if (frames && (step % pictures == 0 || step == last)) frames->add(*motion);
    if (step == last) break;
    motion->step(options.dt);
  }
  if (frames) frames->finish();
}

}  // namespace examples
