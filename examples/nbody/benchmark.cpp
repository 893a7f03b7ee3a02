// Runs of the force -> tables. Entry points: print_benchmark(), print_drawing_benchmark(). Bodies lie where a
// simulation has them, in the device's memory, and each figure is the median of several samples. With a tolerance whole
// steps are measured: trees and lists are kept as long as no body moves.
#include "examples/nbody/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "examples/nbody/simulation.h"
#include "examples/support/plummer.h"
#include "examples/support/program.h"

namespace examples {
namespace {

constexpr double kOperations = 20;  // of an interaction, as the chapter counts
constexpr int kSamples = 5;
constexpr double kShortestSample = 0.02;  // s
constexpr double kTimeStep = 1.0 / 1024;  // of the steps with a tolerance

template <typename Run>
double seconds_of(Simulation& simulation, int runs, const Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < runs; ++k) run();
  simulation.wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Seconds of one run.
template <typename Run>
double median_of(Simulation& simulation, const Run& run) {
  seconds_of(simulation, 1, run);  // compiles what is not compiled yet, and wakes the device
  const int runs = std::max(1, int(kShortestSample / std::max(seconds_of(simulation, 1, run), 1e-7)));
  std::vector<double> samples;
  for (int k = 0; k < kSamples; ++k) samples.push_back(seconds_of(simulation, runs, run) / runs);
  std::nth_element(samples.begin(), samples.begin() + kSamples / 2, samples.end());
  return samples[kSamples / 2];
}

// Interactions per second.
double rate(Simulation& simulation, std::int64_t count) {
  return double(count) * double(count) / median_of(simulation, [&] { simulation.sum_forces(); });
}

// Nothing: there is no such kernel, or the GPU has not the registers for it.
std::optional<double> rate(Simulation& simulation, std::int64_t count, const nbcc::LaunchConfiguration& launch) {
  try {
    simulation.set_launch(launch);
    return rate(simulation, count);
  } catch (const nbcc::Error& error) {
    if (error.status() != NBCC_ERROR_USAGE && error.status() != NBCC_ERROR_DEVICE) throw;
    return {};
  }
}

void print_figures(std::int64_t count, const char* more, std::optional<double> rate) {
  if (rate)
    std::printf("%9lld %12s %16.4g %12.5g", static_cast<long long>(count), more, *rate * 1e-9,
                *rate * 1e-9 * kOperations);
  else
    std::printf("%9lld %12s %16s %12s", static_cast<long long>(count), more, "-", "-");
}

void print_steps(const nbcc::Device& device, const char* set, const Settings& settings, std::int64_t count) {
  Simulation simulation(device, {.bodies = plummer(count, 1)}, settings);
  const double seconds_of_choice = simulation.statistics().seconds_first;
  const double seconds = median_of(simulation, [&] { simulation.step(kTimeStep); });
  const nbcc_statistics now = simulation.statistics();
  std::printf("%9lld %8s %11.4g %11.4g %11.0f", static_cast<long long>(count), set, seconds, seconds_of_choice,
              simulation.pairs_per_step() / double(count));
  if (now.order > 0)
    std::printf(" %11.2e   far field, order %d, leaves of %d, %s precision\n", now.error, now.order, now.leaf,
                now.precision);
  else
    std::printf(" %11s   all pairs\n", "-");
  std::fflush(stdout);
}

void print_heading(const char* title, const char* more) {
  std::printf("\n# %s\n#%8s %12s %16s %12s\n", title, "N", more, "G interact./s", "GFLOP/s");
}

bool has_instruction_sets(const nbcc::Device& device) { return device.name().starts_with("cpu"); }

class Benchmark {
 public:
  Benchmark(const std::string& device, const Settings& settings) : device_(device), settings_(settings) {}

  void against_instruction_set(const std::vector<std::int64_t>& counts) {
    print_heading("Performance against N and instruction set", "set");
    on_each_instruction_set([&](const nbcc::Device& device, const char* isa) {
      for (const std::int64_t count : counts) {
        Simulation simulation(device, {.bodies = plummer(count, 1)}, settings_);
        print_figures(count, isa, rate(simulation, count));
        std::printf("\n");
        std::fflush(stdout);
      }
    });
  }

  void with_tolerance(const nbcc::Device& device, const std::vector<std::int64_t>& counts) {
    std::printf("\n# Steps of %g against N, forces to tolerance %g\n#%8s %8s %11s %11s %11s %11s   %s\n", kTimeStep,
                settings_.tolerance, "N", "set", "s a step", "s to choose", "pairs/body", "error", "method");
    const auto print_all = [&](const nbcc::Device& one, const char* set) {
      for (const std::int64_t count : counts) print_steps(one, set, settings_, count);
    };
    if (has_instruction_sets(device))
      on_each_instruction_set(print_all);
    else
      print_all(device, "-");
  }

  void against_count(const nbcc::Device& device, const std::vector<std::int64_t>& counts) {
    print_heading("Performance against N, in the launch configurations that nbcc chooses", "block size");
    for (const std::int64_t count : counts) {
      Simulation simulation(device, {.bodies = plummer(count, 1)}, settings_);
      const double found = rate(simulation, count);
      const nbcc::LaunchConfiguration launch = simulation.launch();
      print_figures(count, std::to_string(launch.threads).c_str(), found);
      std::printf("   %d bodies a thread, %d threads a body, %d j-splits\n", launch.i_per_thread, launch.j_slices,
                  launch.j_splits);
      std::fflush(stdout);
    }
  }

  // One number of the launch configuration; the others are what nbcc chooses for N.
  void against_number(const nbcc::Device& device, const std::vector<std::int64_t>& counts, const char* title,
                      const char* name, int nbcc::LaunchConfiguration::* member, const std::vector<int>& values) {
    print_heading(title, name);
    for (const std::int64_t count : counts) {
      Simulation simulation(device, {.bodies = plummer(count, 1)}, settings_);
      for (const int value : values) {
        nbcc::LaunchConfiguration launch;
        launch.*member = value;
        // The tile grows with the slices, so that each has as many terms to add.
        if (member == &nbcc::LaunchConfiguration::j_slices) launch.j_tile = kTile * std::min(value, 4);
        print_figures(count, std::to_string(value).c_str(), rate(simulation, count, launch));
        std::printf("\n");
        std::fflush(stdout);
      }
    }
  }

 private:
  static constexpr int kTile = 128;

  template <typename Print>
  void on_each_instruction_set(const Print& print) {
    for (const char* isa : {"sse2", "avx2", "avx512"}) {
      std::optional<nbcc::Device> device;
      try {
        device.emplace(device_, nbcc::DeviceOptions{.isa = isa});
      } catch (const nbcc::Error& error) {
        if (error.status() != NBCC_ERROR_DEVICE) throw;
        continue;  // this machine has it not
      }
      print(*device, isa);
    }
  }

  std::string device_;
  Settings settings_;
};

}  // namespace

void print_benchmark(const std::string& name, const Settings& settings, const std::vector<std::int64_t>& counts) {
  const nbcc::Device device(name);
  Benchmark benchmark(name, settings);
  const bool is_cpu = has_instruction_sets(device);
  const auto or_else = [&](std::vector<std::int64_t> usual) { return counts.empty() ? usual : counts; };
  std::printf("# The force of N bodies on each other on %s, %s precision", device.name().c_str(),
              name_of(settings.precision));
  if (settings.tolerance > 0) {
    std::printf("\n");
    return benchmark.with_tolerance(device, or_else(is_cpu ? std::vector<std::int64_t>{16384, 65536, 262144}
                                                           : std::vector<std::int64_t>{65536, 262144, 1048576}));
  }
  std::printf("; GFLOP/s at %g operations\n", kOperations);
  if (is_cpu) return benchmark.against_instruction_set(or_else({256, 512, 1024, 2048, 4096, 8192, 16384}));

  using Config = nbcc::LaunchConfiguration;
  benchmark.against_count(device, or_else({1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288}));
  const std::vector<std::int64_t> few = or_else({1024, 4096, 16384, 65536});
  benchmark.against_number(device, few, "Performance against the block size", "threads", &Config::threads,
                           {32, 64, 128, 256, 512});
  benchmark.against_number(device, few, "Performance against the unrolling of the loop over bodies", "unrolled",
                           &Config::unroll, {1, 2, 4, 8, 16, 32});
  benchmark.against_number(device, few, "Performance against the threads that share a body", "threads/body",
                           &Config::j_slices, {1, 2, 4, 8, 16, 32});
}

void print_drawing_benchmark(const std::string& name, const Settings& settings, const std::vector<std::int64_t>& counts,
                             const FrameChoice& pictures) {
  const nbcc::Device device(name);
  const bool is_cpu = has_instruction_sets(device);
  const std::vector<std::int64_t> usual =
      is_cpu ? std::vector<std::int64_t>{1024, 4096} : std::vector<std::int64_t>{4096, 16384, 65536};
  std::printf("# Steps of N bodies, a picture of %d x %d after each, on %s, %s precision\n#%8s %12s %16s %16s\n",
              pictures.size[0], pictures.size[1], device.name().c_str(), name_of(settings.precision), "N", "threads",
              "pictures/s", "G interact./s");
  for (const std::int64_t count : counts.empty() ? usual : counts) {
    const Bodies bodies = plummer(count, 1);
    Simulation simulation(device, {.bodies = bodies}, settings);
    Frames frames(pictures, device, bodies);
    // 0: the launch configuration that nbcc chooses.
    for (const int threads : is_cpu ? std::vector<int>{0} : std::vector<int>{0, 32, 64, 128, 256, 512}) {
      nbcc::LaunchConfiguration launch;
      launch.threads = threads;
      std::printf("%9lld %12s", static_cast<long long>(count),
                  threads > 0 ? std::to_string(threads).c_str() : "chosen");
      try {
        if (!is_cpu) simulation.set_launch(launch);
        const double seconds = median_of(simulation, [&] {
          simulation.step(kTimeStep);
          frames.draw(simulation);
        });
        std::printf(" %16.5g %16.4g\n", 1 / seconds, 1e-9 * simulation.pairs_per_step() / seconds);
      } catch (const nbcc::Error& error) {
        if (threads == 0 || (error.status() != NBCC_ERROR_USAGE && error.status() != NBCC_ERROR_DEVICE)) throw;
        std::printf(" %16s %16s\n", "-", "-");  // no such kernel
      }
      std::fflush(stdout);
    }
  }
}

}  // namespace examples
