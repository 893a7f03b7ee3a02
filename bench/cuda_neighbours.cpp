// Sums behind a cutoff on a GPU: a Lennard-Jones liquid of density 0.8442 and an SPH gas, searched in every run or with
// what was found kept by a skin. One table on standard output; it asserts no time. A sample of the results is compared
// with sums over all pairs by the same kernel's text.
#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

#include "bench/cuda/contest.h"
#include "bench/cuda/gpu_program.h"
#include "bench/cuda/hand_lists.h"
#include "bench/cuda/one_set_sum.h"
#include "bench/particles.h"
#include "runtime/api/nbcc.hpp"

namespace nbcc::bench {
namespace {

// Functions of the driver that the runtime leaves to its callers.
struct Graphs {
  CudaResult (*begin)(CudaStream*, int) = find<CudaResult(CudaStream*, int)>("cuStreamBeginCapture_v2");
  CudaResult (*end)(CudaStream*, void**) = find<CudaResult(CudaStream*, void**)>("cuStreamEndCapture");
  CudaResult (*instantiate)(void**, void*, unsigned long long) =
      find<CudaResult(void**, void*, unsigned long long)>("cuGraphInstantiateWithFlags");
  CudaResult (*launch)(void*, CudaStream*) = find<CudaResult(void*, CudaStream*)>("cuGraphLaunch");
  CudaResult (*create_stream)(CudaStream**, unsigned) = find<CudaResult(CudaStream**, unsigned)>("cuStreamCreate");

  template <typename Function>
  static Function* find(const char* symbol) {
    static void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW);
    auto* const function = reinterpret_cast<Function*>(::dlsym(driver, symbol));
    if (!function) throw std::runtime_error(symbol);
    return function;
  }
};

class Table {
 public:
  Table(const Gpu& gpu, std::string only, int rounds) : gpu_(gpu), only_(std::move(only)), rounds_(rounds) {
    fmt::print("{:<34} {:>8} {:>9} {:>9} {:>9} {:>10}\n", "case", "N", "us", "G atoms/s", "tests", "difference");
  }

  void searched(const std::string& name, const std::string& pipeline, const Particles& particles) {
    if (skipped(name)) return;
    OneSetSum sum(gpu_, pipeline, particles);
    sum.sum().pairs(NBCC_PAIRS_CUTOFF);
    const double difference = sum.difference();
    print(name, sum, time([&] { sum.sum().run(); }), difference);
  }

  // Where `auto` changes from one to the other.
  void all_pairs(const std::string& name, const std::string& pipeline, const Particles& particles) {
    if (skipped(name)) return;
    OneSetSum sum(gpu_, pipeline, particles);
    sum.sum().pairs(NBCC_PAIRS_ALL);
    print(name, sum, time([&] { sum.sum().run(); }), 0);
  }

  // What one search found serves ten runs: then some particle has moved too far.
  void kept(const std::string& name, const std::string& pipeline, const Particles& particles, double skin) {
    if (skipped(name)) return;
    OneSetSum sum(gpu_, pipeline, particles);
    sum.sum().pairs(NBCC_PAIRS_CUTOFF);
    const double difference = sum.difference();
    sum.sum().skin(skin);
    const auto x = float(particles.fields.at("x")[0]);
    const float places[2] = {x, x + float(0.6 * skin)};
    int turn = 0;
    print(name, sum, time([&] {
                       ++turn;
                       gpu_.gpu.send(sum.array("x"), &places[turn % 2], sizeof(float), nullptr);
                       for (int k = 0; k < 10; ++k) sum.sum().run();
                     }) / 10,
          difference);
  }

  // The sums alone, without the search: generated, and by hand over lists of neighbours.
  void by_hand(const std::string& name, const Particles& gas) {
    if (skipped(name)) return;
    OneSetSum sum(gpu_, "sph_force", gas);
    sum.sum().pairs(NBCC_PAIRS_CUTOFF);
    const double difference = sum.difference();
    const auto seconds = [&] {
      const nbcc_statistics all = sum.sum().statistics();
      return all.seconds_sums / double(all.runs);
    };
    for (int run = 0; run < 100; ++run) sum.sum().run();
    sum.sum().wait();
    print(name + ", sums alone", sum, seconds(), difference);
    HandLists lists(gpu_.gpu, gpu_.compiler, gas);
    const std::vector<float> accelerations = sum.results().front();
    const std::vector<double> expected(accelerations.begin(), accelerations.end());
    for (const HandLists::Shape& shape : lists.shapes()) {
      const double time_by_hand = time([&] { lists.run(shape); });
      print(name + ", " + shape.name, sum, time_by_hand, largest_difference(lists.accelerations(), expected));
    }
  }

  void captured(const std::string& name, const std::string& pipeline, const Particles& particles) {
    if (skipped(name)) return;
    const Graphs graphs;
    OneSetSum sum(gpu_, pipeline, particles);
    sum.sum().pairs(NBCC_PAIRS_CUTOFF);
    const double difference = sum.difference();
    CudaStream* stream = nullptr;
    void *graph = nullptr, *executable = nullptr;
    const auto require = [&](CudaResult result) { gpu_.gpu.require(result, "capturing"); };
    require(graphs.create_stream(&stream, 1));
    sum.sum().stream(stream).run().wait();
    require(graphs.begin(stream, 0));
    sum.sum().run();
    require(graphs.end(stream, &graph));
    require(graphs.instantiate(&executable, graph, 0));
    print(name, sum, time([&] { require(graphs.launch(executable, nullptr)); }), difference);
  }

 private:
  bool skipped(const std::string& name) const { return name.find(only_) == std::string::npos; }
  double time(const Work& work) const {
    work();
    return gpu_.timer.compare({work}, rounds_).times[0].median;
  }
  void print(const std::string& name, OneSetSum& sum, double seconds, double difference) const {
    const nbcc_statistics statistics = sum.sum().statistics();
    const auto n = double(sum.count());
    fmt::print("{:<34} {:>8} {:>9.1f} {:>9.3f} {:>9.1f} {:>10.1e}\n", name, sum.count(), seconds * 1e6,
               n / seconds * 1e-9,
               double(statistics.pairs_tested) / double(std::max<std::int64_t>(1, statistics.runs)) / n, difference);
    std::fflush(stdout);
  }

  const Gpu& gpu_;
  std::string only_;
  int rounds_;
};

void measure(const Gpu& gpu, const std::string& only, int rounds) {
  Table table(gpu, only, rounds);
  constexpr std::int64_t kSmall = 32768, kMiddle = 262144, kLarge = 1048576;
  for (const std::int64_t n : {kSmall, kMiddle, kLarge, 4 * kLarge})
    for (const double reach : {2.5, 3.5}) {
      const std::string of = fmt::format("reach {} of {}", reach, n);
      table.searched("searched, " + of, "liquid", liquid_atoms(n, reach));
      if (n <= kMiddle) table.captured("captured, " + of, "liquid", liquid_atoms(n, reach));
      table.kept("kept, " + of, "liquid", liquid_atoms(n, reach), 0.3);
    }
  for (const std::int64_t n : {4096, 8192, 12288, 16384, 32768}) {
    table.all_pairs(fmt::format("all or found, all of {}", n), "liquid", liquid_atoms(n, 2.5));
    table.searched(fmt::format("all or found, found of {}", n), "liquid", liquid_atoms(n, 2.5));
  }
  for (const double reach : {5.0, 7.0, 9.0}) {
    table.all_pairs(fmt::format("far or found, all at {}", reach), "liquid", liquid_atoms(kSmall, reach));
    table.searched(fmt::format("far or found, found at {}", reach), "liquid", liquid_atoms(kSmall, reach));
  }
  table.searched("searched, reach 2.66", "liquid", liquid_atoms(kLarge, 2.66));
  table.searched("searched, own reaches", "liquid_of_reaches", liquid_atoms(kLarge, 2.5));
  table.searched("searched, SPH forces", "sph_force", gas(100));
  table.by_hand("SPH by hand", gas(100));
}

}  // namespace
}  // namespace nbcc::bench

int main(int count, char** values) {
  return nbcc::bench::run_program({"cuda_neighbours [PART_OF_NAME] [--rounds N]", 9, nbcc::bench::measure}, count,
                                  values);
}
