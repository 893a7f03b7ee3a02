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
#include "bench/cuda/hand_lists.h"
#include "bench/embedded_texts.h"
#include "bench/particles.h"
#include "runtime/api/nbcc.hpp"

namespace nbcc::bench {
namespace {

constexpr double kDensity = 0.8442;

// Atoms near an fcc lattice some of whose sites are vacant, in random order; reaches vary by a fifth.
Particles atoms(std::int64_t n, double reach) {
  std::mt19937_64 random(7);
  const auto cells = std::int64_t(std::ceil(std::cbrt(double(n) * 1.01 / 4)));
  const double side = std::cbrt(double(n) / kDensity), cell = side / double(cells);
  std::vector<std::int64_t> sites(std::size_t(4 * cells * cells * cells));
  std::iota(sites.begin(), sites.end(), 0);
  std::shuffle(sites.begin(), sites.end(), random);
  std::uniform_real_distribution<double> away(-0.08, 0.08), part(0.8, 1.2);
  constexpr double kPlace[4][3] = {{0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}};
  Particles p;
  p.n = n;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t site = sites[std::size_t(k)], c = site / 4;
    const std::int64_t at[3] = {c / (cells * cells), c / cells % cells, c % cells};
    for (int d = 0; d < 3; ++d)
      p.fields["x"].push_back(float((double(at[d]) + kPlace[site % 4][d]) * cell + away(random)));
    p.fields["h"].push_back(float(reach * part(random)));
  }
  p.params["box"].assign(3, side);
  p.params["rc"] = {reach};
  return p;
}

// The largest over the root mean square of what is expected; 1e30 if one is NaN.
double largest_difference(const std::vector<double>& is, const std::vector<double>& expected) {
  double largest = 0, squares = 0;
  for (std::size_t k = 0; k < is.size(); ++k) {
    const double difference = std::abs(is[k] - expected[k]);
    if (std::isnan(difference)) return 1e30;
    largest = std::max(largest, difference);
    squares += expected[k] * expected[k];
  }
  return largest / std::sqrt(squares / double(is.size()));
}

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

// A sum with all its arrays on the GPU; fields of i and j with one name but for the last letter are one array.
class NeighbourSum {
 public:
  NeighbourSum(const Gpu& gpu, const std::string& pipeline, const Particles& particles)
      : gpu_(gpu.gpu),
        pipeline_(Pipeline::from_text(gpu.device, std::string(embedded_pipeline(pipeline)), pipeline)),
        sum_(pipeline_),
        n_(particles.n) {
    for (const Field& field : pipeline_.fields()) {
      if (field.role == NBCC_PARAM) {
        const auto given = particles.params.find(field.name);
        if (given != particles.params.end()) sum_.set(field.name, given->second);
        continue;
      }
      const bool output = field.role == NBCC_OUTPUT;
      const std::string name = output ? field.name : field.name.substr(0, field.name.size() - 1);
      auto& buffer = arrays_[name];
      if (!buffer) {
        std::vector<float> values(std::size_t(n_ * field.components));
        if (!output) std::copy(particles.fields.at(name).begin(), particles.fields.at(name).end(), values.begin());
        buffer = std::make_unique<CudaBuffer>(gpu_);
        if (!buffer->reserve(values.size() * sizeof(float))) throw std::runtime_error("out of memory of the GPU");
        gpu_.send(buffer->data(), values.data(), values.size() * sizeof(float), nullptr);
        gpu_.synchronize(nullptr);
      }
      float* const at = reinterpret_cast<float*>(buffer->data());
      sum_.bind(field.name, view(at, n_, std::int64_t(sizeof(float)) * field.components, sizeof(float)));
      if (output) outputs_.emplace_back(buffer.get(), field.components);
    }
    sum_.pairs(NBCC_PAIRS_CUTOFF);
  }

  Sum& sum() { return sum_; }
  std::int64_t count() const { return n_; }
  CudaDevicePointer array(const std::string& name) const { return arrays_.at(name)->data(); }

  // Largest difference of an output between searched and all pairs over its root mean square, over some i.
  double difference() {
    sum_.run().wait();
    const std::vector<std::vector<float>> found = results();
    std::vector<std::int64_t> some;
    for (std::int64_t k = 0; k < 512; ++k) some.push_back(k * (n_ / 512));
    sum_.pairs(NBCC_PAIRS_ALL).run(some).wait();
    const std::vector<std::vector<float>> expected = results();
    sum_.pairs(NBCC_PAIRS_CUTOFF);
    double worst = 0;
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      std::vector<double> is, want;
      const auto width = std::size_t(outputs_[o].second);
      for (const std::int64_t i : some)
        for (std::size_t k = std::size_t(i) * width; k < std::size_t(i + 1) * width; ++k)
          is.push_back(found[o][k]), want.push_back(expected[o][k]);
      worst = std::max(worst, largest_difference(is, want));
    }
    return worst;
  }

  // Of the last run, output by output.
  std::vector<std::vector<float>> results() {
    std::vector<std::vector<float>> all;
    for (const auto& [buffer, components] : outputs_) {
      all.emplace_back(std::size_t(n_ * components));
      gpu_.fetch(all.back().data(), buffer->data(), all.back().size() * sizeof(float), nullptr);
    }
    gpu_.synchronize(nullptr);
    return all;
  }

 private:
  const CudaGpu& gpu_;
  Pipeline pipeline_;
  Sum sum_;
  std::int64_t n_;
  std::map<std::string, std::unique_ptr<CudaBuffer>> arrays_;
  std::vector<std::pair<const CudaBuffer*, int>> outputs_;
};

class Table {
 public:
  Table(const Gpu& gpu, std::string only, int rounds) : gpu_(gpu), only_(std::move(only)), rounds_(rounds) {
    fmt::print("{:<34} {:>8} {:>9} {:>9} {:>9} {:>10}\n", "case", "N", "us", "G atoms/s", "tests", "difference");
  }

  void searched(const std::string& name, const std::string& pipeline, const Particles& particles) {
    if (skipped(name)) return;
    NeighbourSum sum(gpu_, pipeline, particles);
    const double difference = sum.difference();
    print(name, sum, time([&] { sum.sum().run(); }), difference);
  }

  // Where `auto` changes from one to the other.
  void all_pairs(const std::string& name, const std::string& pipeline, const Particles& particles) {
    if (skipped(name)) return;
    NeighbourSum sum(gpu_, pipeline, particles);
    sum.sum().pairs(NBCC_PAIRS_ALL);
    print(name, sum, time([&] { sum.sum().run(); }), 0);
  }

  // What one search found serves ten runs: then some particle has moved too far.
  void kept(const std::string& name, const std::string& pipeline, const Particles& particles, double skin) {
    if (skipped(name)) return;
    NeighbourSum sum(gpu_, pipeline, particles);
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
    NeighbourSum sum(gpu_, "sph_force", gas);
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
    NeighbourSum sum(gpu_, pipeline, particles);
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
  void print(const std::string& name, NeighbourSum& sum, double seconds, double difference) const {
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

int measure(int count, char** values) {
  std::string only;
  int rounds = 9;
  for (int k = 1; k < count; ++k) {
    const std::string word = values[k];
    if (word == "--help") {
      fmt::print("usage: cuda_neighbours [PART_OF_NAME] [--rounds N]\n");
      return 0;
    }
    if (word == "--rounds" && k + 1 < count)
      rounds = std::atoi(values[++k]);
    else
      only = word;
  }
  const Gpu gpu(false);
  const CudaContextGuard guard(gpu.gpu);
  Table table(gpu, only, rounds);
  constexpr std::int64_t kSmall = 32768, kMiddle = 262144, kLarge = 1048576;
  for (const std::int64_t n : {kSmall, kMiddle, kLarge, 4 * kLarge})
    for (const double reach : {2.5, 3.5}) {
      const std::string of = fmt::format("reach {} of {}", reach, n);
      table.searched("searched, " + of, "liquid", atoms(n, reach));
      if (n <= kMiddle) table.captured("captured, " + of, "liquid", atoms(n, reach));
      table.kept("kept, " + of, "liquid", atoms(n, reach), 0.3);
    }
  for (const std::int64_t n : {4096, 8192, 12288, 16384, 32768}) {
    table.all_pairs(fmt::format("all or found, all of {}", n), "liquid", atoms(n, 2.5));
    table.searched(fmt::format("all or found, found of {}", n), "liquid", atoms(n, 2.5));
  }
  for (const double reach : {5.0, 7.0, 9.0}) {
    table.all_pairs(fmt::format("far or found, all at {}", reach), "liquid", atoms(kSmall, reach));
    table.searched(fmt::format("far or found, found at {}", reach), "liquid", atoms(kSmall, reach));
  }
  table.searched("searched, reach 2.66", "liquid", atoms(kLarge, 2.66));
  table.searched("searched, own reaches", "liquid_of_reaches", atoms(kLarge, 2.5));
  table.searched("searched, SPH forces", "sph_force", gas(100));
  table.by_hand("SPH by hand", gas(100));
  return 0;
}

}  // namespace
}  // namespace nbcc::bench

int main(int count, char** values) {
  try {
    return nbcc::bench::measure(count, values);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
