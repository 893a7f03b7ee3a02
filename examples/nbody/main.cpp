// Gravitating bodies, each pulled by all others, as in GPU Gems 3, chapter 31, and the posts on Alea GPU.
//
// Positions, velocities and accelerations stay on the device: the force is one sum, and the steps of the integrator are
// sums over nothing, all of whose work is done by finish(). The host sees the bodies when it reports or writes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "examples/nbody/benchmark.h"
#include "examples/nbody/checkpoint.h"
#include "examples/nbody/compare.h"
#include "examples/nbody/options.h"
#include "examples/nbody/pipeline/run_pipeline.h"
#include "examples/nbody/snapshot.h"
#include "examples/nbody/tolerance_report.h"
#include "examples/support/energy.h"
#include "examples/support/failure.h"
#include "examples/support/program.h"
#include "examples/support/ranks.h"

namespace {

using examples::Checkpoint;
using examples::Options;
using examples::State;
using examples::Totals;

double length(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// is_told: not by all of many processes, which all find an energy that is no number.
void report(double time, const Totals& now, const Totals& first, bool is_told = true) {
  const double error = examples::energy_error(now.energy(), first.energy(), time);
  if (!is_told) return;
  std::printf("%10.4f %16.12f %11.3e %11.3e %11.3e\n", time, now.energy(), error, length(now.momentum, first.momentum),
              length(now.angular_momentum, first.angular_momentum));
  std::fflush(stdout);
}

void progress(double share, double rate) {
  std::fprintf(stderr, "\r[%-40.*s] %3.0f%%  %.3g G interactions/s ", int(40 * share),
               "########################################", 100 * share, 1e-9 * rate);
}

void clear_progress() { std::fprintf(stderr, "\r%80s\r", ""); }

// Of a restart, what the run was begun with counts.
Checkpoint beginning(const Options& options) {
  if (options.restart) return examples::read_checkpoint(options.checkpoint);
  Checkpoint start{{}, options.settings, options.dt, {}};
  start.state.bodies = examples::read_bodies(options.bodies);
  start.settings.G = examples::gravitational_constant(start.state.bodies, options.G);
  if (options.at_rest) examples::rest_in_the_origin(start.state.bodies);
  return start;
}

void save(const Options& options, examples::Simulation& simulation, Checkpoint& run, std::int64_t number) {
  if (options.checkpoint.empty() && options.snapshots.empty()) return;
  run.state = simulation.state();
  if (!options.checkpoint.empty()) examples::write_checkpoint(options.checkpoint, run);
  if (options.snapshots.empty()) return;
  char ending[32];
  std::snprintf(ending, sizeof ending, "-%04lld.hdf5", static_cast<long long>(number));
  examples::write_snapshot(options.snapshots + ending, run.state.bodies, double(run.state.step) * run.dt);
}

// As they can be counted.
std::int64_t steps_in(double time, double dt) {
  if (!(time / dt < 0x1p53)) throw examples::UsageError("there are too many steps up to --end");
  return std::llround(time / dt);
}
// Steps between two events of which there may be one at the end alone.
std::int64_t stride_of(double time, double end, double dt) {
  return std::max<std::int64_t>(1, steps_in(std::min(time, end), dt));
}
std::int64_t multiple_after(std::int64_t step, std::int64_t stride) { return (step / stride + 1) * stride; }

// Reports alone, by the first of the ranks.
void simulate_together(const Checkpoint& run, const Options& options) {
  const nbcc::Device device(options.device);
  const std::unique_ptr<examples::Ranks> ranks = examples::ranks_of_mpi(device);
  State mine;
  mine.bodies = ranks->share(run.state.bodies);
  examples::Simulation simulation(device, mine, run.settings, ranks.get());
  const double pairs = double(run.state.bodies.count()) * double(run.state.bodies.count());
  const std::int64_t last = steps_in(options.end, run.dt), stride = stride_of(options.every, options.end, run.dt);
  const Totals first = simulation.totals();
  if (ranks->is_first())
    std::printf("# %lld bodies on %d ranks of %s, dt = %g\n#%9s %16s %11s %11s %11s\n",
                static_cast<long long>(run.state.bodies.count()), ranks->count(), device.name().c_str(), run.dt, "time",
                "energy", "dE/|E|", "d momentum", "d ang. mom.");
  const auto begin = std::chrono::steady_clock::now();
  double reporting = 0;
  for (std::int64_t step = 0;; simulation.step(run.dt), ++step) {
    if (step % stride != 0 && step != last) continue;
    simulation.wait();
    const auto now = std::chrono::steady_clock::now();
    const Totals totals = simulation.totals();
    report(double(step) * run.dt, totals, first, ranks->is_first());
    reporting += std::chrono::duration<double>(std::chrono::steady_clock::now() - now).count();
    if (step == last) break;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() - reporting;
  if (ranks->is_first() && !options.quiet)
    std::fprintf(stderr, "%.3g G interactions/s, %.4g s a step\n", 1e-9 * pairs * double(last) / seconds,
                 seconds / double(std::max<std::int64_t>(last, 1)));
}

// Where the energy comes from, if it may come from different sums.
void print_tolerances(const examples::Settings& settings) {
  if (settings.tolerance == 0) return;
  std::printf("# forces to tolerance %g; potential energy: ", settings.tolerance);
  if (!settings.energy_tolerance)
    std::printf("from the sums of the forces, to the same tolerance\n");
  else if (*settings.energy_tolerance > 0)
    std::printf("a sum in double precision, to tolerance %g\n", *settings.energy_tolerance);
  else
    std::printf("all pairs in double precision\n");
}

void print_tolerance_reports(examples::Simulation& simulation, nbcc_precision precision) {
  const std::int64_t count = simulation.count();
  std::printf("%s", examples::tolerance_report("forces", simulation.statistics(), count, precision).c_str());
  if (const std::optional<nbcc_statistics> energy = simulation.energy_statistics())
    std::printf("%s", examples::tolerance_report("energy", *energy, count, NBCC_DOUBLE).c_str());
}

void simulate(Checkpoint run, const Options& options) {
  using Clock = std::chrono::steady_clock;
  if (options.mpi) return simulate_together(run, options);
  const nbcc::Device device(options.device);
  const State start = std::exchange(run.state, {});
  examples::Simulation simulation(device, start, run.settings);
  const double dt = run.dt;
  const std::int64_t last = steps_in(options.end, dt), stride = stride_of(options.every, options.end, dt);
  const std::int64_t frame_stride = options.wants_frames() ? stride_of(options.frame_every, options.end, dt) : last;
  std::optional<examples::Frames> frames;
  if (options.wants_frames()) frames.emplace(options.frames, device, start.bodies);

  std::printf("# %lld bodies on %s, %s precision, dt = %g, eps = %g", static_cast<long long>(start.bodies.count()),
              device.name().c_str(), examples::name_of(run.settings.precision), dt, run.settings.eps);
  if (run.settings.G != 1) std::printf(", G = %.9g", run.settings.G);
  std::printf("\n");
  print_tolerances(run.settings);
  std::printf("#%9s %16s %11s %11s %11s\n", "time", "energy", "dE/|E|", "d momentum", "d ang. mom.");
  if (!options.restart) run.first = simulation.totals();
  const auto tell_and_save = [&](std::int64_t number) {
    report(double(simulation.steps()) * dt, simulation.totals(), run.first);
    if (simulation.steps() > start.step || !options.restart) save(options, simulation, run, number);
  };
  tell_and_save(0);
  if (frames) frames->add(simulation);
  while (simulation.steps() < last) {
    const auto begin = Clock::now();
    const std::int64_t from = simulation.steps();
    const std::int64_t next = std::min({last, multiple_after(from, stride), multiple_after(from, frame_stride)});
    while (simulation.steps() < next) simulation.step(dt);
    simulation.wait();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (!options.quiet)
      progress(double(next - start.step) / double(last - start.step),
               simulation.pairs_per_step() * double(next - from) / seconds);
    if (frames && (next % frame_stride == 0 || next == last)) frames->add(simulation);
    if (next % stride != 0 && next != last) continue;
    if (!options.quiet) clear_progress();
    tell_and_save((next + stride - 1) / stride);
  }
  if (frames) frames->finish();
  if (run.settings.tolerance > 0) print_tolerance_reports(simulation, run.settings.precision);
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Direct N-body simulation", "nbody");
  Options options;
  examples::add_options(app, options);
  return examples::run_program(app, count, words, [&] {
    examples::complete(options);
    if (options.benchmark)
      return options.benchmark_draws
                 ? examples::print_drawing_benchmark(options.device, options.settings, options.counts, options.frames)
                 : examples::print_benchmark(options.device, options.settings, options.counts);
    if (!options.pipeline.file.empty()) return examples::run_pipeline(options);
    Checkpoint start = beginning(options);
    if (options.compare) {
      const std::int64_t steps = steps_in(options.end, start.dt) - start.state.step;
      return examples::print_comparison(options.device, start.state, start.settings, start.dt, steps);
    }
    if (options.viewer)
      examples::show({start.state, start.dt, options.device, start.settings}, options.view, options.frames);
    else
      simulate(std::move(start), options);
  });
}
