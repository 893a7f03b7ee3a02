// Gravitating bodies, each pulled by all others, as in GPU Gems 3, chapter 31, and the posts on Alea GPU.
//
// Positions, velocities and accelerations stay on the device: the force is one sum, and the steps of the integrator are
// sums over nothing, all of whose work is done by finish(). The host sees the bodies when it reports or writes.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "examples/nbody/simulation.h"

namespace {

using examples::Totals;

double length(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

void report(const examples::Simulation& simulation, const Totals& now, const Totals& first) {
  std::printf("%10.4f %16.12f %11.3e %11.3e %11.3e\n", simulation.time(), now.energy(),
              (now.energy() - first.energy()) / std::fabs(first.energy()), length(now.momentum, first.momentum),
              length(now.angular_momentum, first.angular_momentum));
  std::fflush(stdout);
}

struct Options {
  std::string bodies, device = "cpu", precision = "single", checkpoint, snapshots;
  examples::Settings settings;
  double end = 1, every = 0.125;
  bool at_rest = false, restart = false, quiet = false;
};

int parse(int count, char** words, Options& options) {
  CLI::App app("Direct N-body simulation");
  app.add_option("BODIES", options.bodies,
                 "A text file of bodies, as `nbcc make-ic plummer --n 1024 -o bodies.txt` makes it");
  app.add_option("--end", options.end, "Time to stop at")->capture_default_str();
  app.add_option("--dt", options.settings.dt, "Time step")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--eps", options.settings.eps, "Softening length")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--damping", options.settings.damping,
                 "Of the velocity in each step: 1 is leapfrog, less the damped scheme")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--precision", options.precision, "Of the force")
      ->check(CLI::IsMember({"single", "mixed", "double"}))
      ->capture_default_str();
  app.add_option("--device", options.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_flag("--rest", options.at_rest, "Let the centre of mass rest in the origin");
  app.add_option("--every", options.every, "Time between reports, snapshots and checkpoints")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--snapshots", options.snapshots, "NAME: write NAME-0000.hdf5, NAME-0001.hdf5, ...");
  app.add_option("--checkpoint", options.checkpoint, "A file to go on from, written at every report");
  app.add_flag("--restart", options.restart, "Go on from the checkpoint")->needs("--checkpoint");
  app.add_flag("--quiet", options.quiet, "No progress bar");
  CLI11_PARSE(app, count, words);
  if (options.bodies.empty() == options.restart) return 0;
  std::fprintf(stderr, "nbody: give bodies to start with, or a checkpoint and --restart\n");
  return 2;
}

void progress(double share, double rate) {
  std::fprintf(stderr, "\r[%-40.*s] %3.0f%%  %.3g G interactions/s ", int(40 * share),
               "########################################", 100 * share, 1e-9 * rate);
}

void clear_progress() { std::fprintf(stderr, "\r%80s\r", ""); }

int simulate(Options& options) {
  using Clock = std::chrono::steady_clock;
  options.settings.precision = options.precision == "single"  ? NBCC_SINGLE
                               : options.precision == "mixed" ? NBCC_MIXED
                                                              : NBCC_DOUBLE;
  examples::Checkpoint start;
  if (options.restart) {
    start = examples::read_checkpoint(options.checkpoint);
    options.settings.dt = start.dt;
  } else {
    start.bodies = examples::read_bodies(options.bodies);
    if (options.at_rest) examples::rest_in_the_origin(start.bodies);
  }
  const nbcc::Device device(options.device);
  examples::Simulation simulation(device, start, options.settings);
  const double dt = options.settings.dt, pairs = double(start.bodies.count()) * double(start.bodies.count());
  const auto last = std::int64_t(std::llround(options.end / dt));
  const auto stride = std::max<std::int64_t>(1, std::llround(options.every / dt));

  std::printf("# %lld bodies on %s, %s precision, dt = %g, eps = %g\n", static_cast<long long>(start.bodies.count()),
              device.name().c_str(), options.precision.c_str(), dt, options.settings.eps);
  std::printf("#%9s %16s %11s %11s %11s\n", "time", "energy", "dE/E", "d momentum", "d ang. mom.");
  const Totals first = simulation.totals();
  report(simulation, first, first);
  for (const std::int64_t began = simulation.steps(); simulation.steps() < last;) {
    const auto begin = Clock::now();
    const std::int64_t from = simulation.steps(), next = std::min(last, (from / stride + 1) * stride);
    while (simulation.steps() < next) simulation.step();
    simulation.wait();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (!options.quiet) clear_progress();
    report(simulation, simulation.totals(), first);
    if (!options.quiet) progress(double(next - began) / double(last - began), pairs * double(next - from) / seconds);
    const examples::Checkpoint state = simulation.state();
    if (!options.checkpoint.empty()) examples::write_checkpoint(options.checkpoint, state);
    char number[32];
    std::snprintf(number, sizeof number, "-%04lld.hdf5", static_cast<long long>((next + stride - 1) / stride));
    if (!options.snapshots.empty())
      examples::write_snapshot(options.snapshots + number, state.bodies, simulation.time());
  }
  if (!options.quiet) clear_progress();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  if (const int code = parse(count, words, options); code != 0 || (options.bodies.empty() && !options.restart))
    return code;
  try {
    return simulate(options);
  } catch (const nbcc::Error& error) {
    std::fprintf(stderr, "nbody: %s\n", error.what());
    return error.status();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nbody: %s\n", error.what());
    return 1;
  }
}
