// Gravitating bodies, each pulled by all others, as in GPU Gems 3, chapter 31, and the posts on Alea GPU.
//
// Positions, velocities and accelerations stay on the device: the force is one sum, and the steps of the integrator are
// sums over nothing, all of whose work is done by finish(). The host sees the bodies when it reports or writes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include "examples/nbody/benchmark.h"
#include "examples/nbody/missing.h"
#include "examples/nbody/options.h"
#include "examples/nbody/simulation.h"

namespace {

using examples::Options;
using examples::Totals;

double length(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

void report(double time, const Totals& now, const Totals& first) {
  std::printf("%10.4f %16.12f %11.3e %11.3e %11.3e\n", time, now.energy(),
              (now.energy() - first.energy()) / std::fabs(first.energy()), length(now.momentum, first.momentum),
              length(now.angular_momentum, first.angular_momentum));
  std::fflush(stdout);
}

void progress(double share, double rate) {
  std::fprintf(stderr, "\r[%-40.*s] %3.0f%%  %.3g G interactions/s ", int(40 * share),
               "########################################", 100 * share, 1e-9 * rate);
}

void clear_progress() { std::fprintf(stderr, "\r%80s\r", ""); }

examples::Checkpoint beginning(Options& options) {
  if (options.restart) {
    examples::Checkpoint start = examples::read_checkpoint(options.checkpoint);
    options.dt = start.dt;
    return start;
  }
  examples::Checkpoint start;
  start.dt = options.dt;
  start.bodies = examples::read_bodies(options.bodies);
  if (options.at_rest) examples::rest_in_the_origin(start.bodies);
  return start;
}

void save(const Options& options, examples::Simulation& simulation, std::int64_t number) {
  examples::Checkpoint state = simulation.state();
  state.dt = options.dt;
  if (!options.checkpoint.empty()) examples::write_checkpoint(options.checkpoint, state);
  char ending[32];
  std::snprintf(ending, sizeof ending, "-%04lld.hdf5", static_cast<long long>(number));
  if (!options.snapshots.empty())
    examples::write_snapshot(options.snapshots + ending, state.bodies, double(state.step) * options.dt);
}

std::int64_t multiple_after(std::int64_t step, std::int64_t stride) { return (step / stride + 1) * stride; }
std::int64_t steps_in(double time, double dt) { return std::max<std::int64_t>(1, std::llround(time / dt)); }

void simulate(const examples::Checkpoint& start, const Options& options) {
  using Clock = std::chrono::steady_clock;
  const nbcc::Device device(options.device);
  examples::Simulation simulation(device, start, options.settings);
  const double dt = options.dt, pairs = double(start.bodies.count()) * double(start.bodies.count());
  const auto last = std::int64_t(std::llround(options.end / dt));
  const std::int64_t stride = steps_in(options.every, dt);
  const std::int64_t frame_stride = options.wants_frames() ? steps_in(options.frame_every, dt) : last;
  std::optional<examples::Frames> frames;
  if (options.wants_frames()) frames.emplace(options.frames, device, start.bodies);

  std::printf("# %lld bodies on %s, %s precision, dt = %g, eps = %g\n", static_cast<long long>(start.bodies.count()),
              device.name().c_str(), options.precision.c_str(), dt, options.settings.eps);
  std::printf("#%9s %16s %11s %11s %11s\n", "time", "energy", "dE/E", "d momentum", "d ang. mom.");
  const Totals first = simulation.totals();
  report(double(start.step) * dt, first, first);
  if (frames) frames->add(simulation);
  while (simulation.steps() < last) {
    const auto begin = Clock::now();
    const std::int64_t from = simulation.steps();
    const std::int64_t next = std::min({last, multiple_after(from, stride), multiple_after(from, frame_stride)});
    while (simulation.steps() < next) simulation.step(dt);
    simulation.wait();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (!options.quiet)
      progress(double(next - start.step) / double(last - start.step), pairs * double(next - from) / seconds);
    if (frames && (next % frame_stride == 0 || next == last)) frames->add(simulation);
    if (next % stride != 0 && next != last) continue;
    if (!options.quiet) clear_progress();
    report(double(next) * dt, simulation.totals(), first);
    save(options, simulation, (next + stride - 1) / stride);
  }
  if (frames) frames->finish();
}

}  // namespace

int main(int count, char** words) {
  Options options;
  int code = 0;
  if (!parse(count, words, options, code)) return code;
  try {
    if (options.benchmark) {
      examples::print_benchmark(options.device, options.settings.precision, options.counts);
      return 0;
    }
    const examples::Checkpoint start = beginning(options);
    if (options.viewer)
      examples::show({start, options.device, options.settings}, options.view, options.frames);
    else
      simulate(start, options);
    return 0;
  } catch (const examples::Missing& error) {
    std::fprintf(stderr, "nbody: %s\n", error.what());
    return 3;
  } catch (const nbcc::Error& error) {
    std::fprintf(stderr, "nbody: %s\n", error.what());
    return error.status();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nbody: %s\n", error.what());
    return 1;
  }
}
