// Sums behind a cutoff on a GPU: a Lennard-Jones liquid of density 0.8442 and an SPH gas, searched in every run or with
// what was found kept by a skin. One table on standard output; it asserts no time. A sample of the results is compared
// with sums over all pairs by the same kernel's text.
#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>

#include "bench/cuda/gpu_timer.h"
#include "bench/embedded_texts.h"
#include "bench/particles.h"
#include "compiler/text/source.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/sum/sum.h"

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
  NeighbourSum(CudaDevice& device, KernelSource source, const Particles& particles)
      : device_(device), sum_(device.load(std::move(source))), n_(particles.n) {
    for (const FieldLayout& field : sum_.fields()) {
      if (field.role == Role::Param) {
        const auto given = particles.params.find(field.name);
        if (given != particles.params.end()) sum_.set_param(field.name, given->second);
        continue;
      }
      const bool output = field.role == Role::Output;
      const std::string name = output ? field.name : field.name.substr(0, field.name.size() - 1);
      void*& at = arrays_[name];
      if (!at) {
        std::vector<float> values(std::size_t(n_ * field.components()));
        if (!output) std::copy(particles.fields.at(name).begin(), particles.fields.at(name).end(), values.begin());
        at = device_.allocate(values.size() * sizeof(float));
        device_.write(at, values.data(), values.size() * sizeof(float));
      }
      ArrayView view;
      view.data = at;
      view.count = n_;
      view.stride = std::int64_t(sizeof(float)) * field.components();
      view.component_stride = sizeof(float);
      view.element = Element::Float;
      sum_.bind(field.name, view);
      if (output) outputs_.emplace_back(at, field.components());
    }
  }
  ~NeighbourSum() {
    for (const auto& [name, at] : arrays_) device_.release(at);
  }
  NeighbourSum(const NeighbourSum&) = delete;
  NeighbourSum& operator=(const NeighbourSum&) = delete;

  SumState& sum() { return sum_; }
  std::int64_t count() const { return n_; }
  void* array(const std::string& name) const { return arrays_.at(name); }

  // Largest difference of an output between searched and all pairs over its root mean square, over some i.
  double difference() {
    sum_.set_pairs(PairChoice::Cutoff);
    sum_.run();
    sum_.wait();
    const std::vector<std::vector<float>> found = results();
    sum_.set_pairs(PairChoice::All);
    std::vector<std::int64_t> some;
    for (std::int64_t k = 0; k < 512; ++k) some.push_back(k * (n_ / 512));
    RunChoice choice;
    choice.i_list = some.data();
    choice.i_count = std::int64_t(some.size());
    sum_.run(choice);
    sum_.wait();
    const std::vector<std::vector<float>> expected = results();
    sum_.set_pairs(PairChoice::Cutoff);
    double worst = 0;
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      double largest = 0, squares = 0;
      const auto width = std::size_t(outputs_[o].second);
      for (const std::int64_t i : some)
        for (std::size_t c = 0; c < width; ++c) {
          const double want = expected[o][std::size_t(i) * width + c], is = found[o][std::size_t(i) * width + c];
          largest = std::isnan(is - want) ? 1e30 : std::max(largest, std::abs(is - want));
          squares += want * want;
        }
      worst = std::max(worst, largest / std::sqrt(squares / double(some.size() * width)));
    }
    return worst;
  }

 private:
  std::vector<std::vector<float>> results() {
    std::vector<std::vector<float>> all;
    for (const auto& [at, components] : outputs_) {
      all.emplace_back(std::size_t(n_ * components));
      device_.read(all.back().data(), at, all.back().size() * sizeof(float));
    }
    return all;
  }

  CudaDevice& device_;
  SumState sum_;
  std::int64_t n_;
  std::map<std::string, void*> arrays_;
  std::vector<std::pair<void*, int>> outputs_;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + path);
  return text.str();
}

class Table {
 public:
  Table(CudaDevice& device, std::string only, std::map<std::string, std::string> texts, int rounds)
      : device_(device), timer_(device.gpu()), only_(std::move(only)), texts_(std::move(texts)), rounds_(rounds) {
    fmt::print("{:<34} {:>8} {:>9} {:>9} {:>9} {:>10}\n", "case", "N", "us", "G atoms/s", "tests", "difference");
  }

  void searched(const std::string& name, const std::string& pipeline, const Particles& particles) {
    if (skipped(name)) return;
    NeighbourSum sum(device_, source_of(pipeline), particles);
    const double difference = sum.difference();
    print(name, sum, time([&] { sum.sum().run(); }), difference);
  }

  // Where `auto` changes from one to the other.
  void all_pairs(const std::string& name, const std::string& pipeline, const Particles& particles) {
    if (skipped(name)) return;
    NeighbourSum sum(device_, source_of(pipeline), particles);
    sum.sum().set_pairs(PairChoice::All);
    print(name, sum, time([&] { sum.sum().run(); }), 0);
  }

  // What one search found serves ten runs: then some particle has moved too far.
  void kept(const std::string& name, const std::string& pipeline, const Particles& particles, double skin) {
    if (skipped(name)) return;
    NeighbourSum sum(device_, source_of(pipeline), particles);
    const double difference = sum.difference();
    sum.sum().set_skin(skin);
    const auto x = float(particles.fields.at("x")[0]);
    const float places[2] = {x, x + float(0.6 * skin)};
    void* const to = sum.array("x");
    int turn = 0;
    const CudaGpu& gpu = device_.gpu();
    print(name, sum, time([&] {
            ++turn;
            gpu.send(reinterpret_cast<CudaDevicePointer>(to), &places[turn % 2], sizeof(float), nullptr);
            for (int k = 0; k < 10; ++k) sum.sum().run();
          }) / 10,
          difference);
  }

  void captured(const std::string& name, const std::string& pipeline, const Particles& particles) {
    if (skipped(name)) return;
    const Graphs graphs;
    const CudaContextGuard guard(device_.gpu());
    NeighbourSum sum(device_, source_of(pipeline), particles);
    const double difference = sum.difference();
    CudaStream* stream = nullptr;
    void *graph = nullptr, *executable = nullptr;
    const auto require = [&](CudaResult result) { device_.gpu().require(result, "capturing"); };
    require(graphs.create_stream(&stream, 1));
    RunChoice choice;
    choice.stream = stream;
    sum.sum().run(choice);
    sum.sum().wait();
    require(graphs.begin(stream, 0));
    sum.sum().run(choice);
    require(graphs.end(stream, &graph));
    require(graphs.instantiate(&executable, graph, 0));
    print(name, sum, time([&] { require(graphs.launch(executable, nullptr)); }), difference);
  }

 private:
  bool skipped(const std::string& name) const { return name.find(only_) == std::string::npos; }
  KernelSource source_of(const std::string& pipeline) const {
    KernelSource source =
        build_cuda_kernel(Source{pipeline + ".pipe", std::string(embedded_pipeline(pipeline))}, {}, "");
    const auto text = texts_.find(pipeline);
    if (text != texts_.end()) source.search_text = read_file(text->second);
    return source;
  }
  double time(const Work& work) const {
    work();
    return timer_.compare({work}, rounds_).times[0].median;
  }
  void print(const std::string& name, NeighbourSum& sum, double seconds, double difference) const {
    const SumStatistics statistics = sum.sum().statistics();
    const auto n = double(sum.count());
    fmt::print("{:<34} {:>8} {:>9.1f} {:>9.3f} {:>9.1f} {:>10.1e}\n", name, sum.count(), seconds * 1e6,
               n / seconds * 1e-9, double(statistics.pairs_tested) / double(std::max<std::int64_t>(1, statistics.runs)) / n,
               difference);
    std::fflush(stdout);
  }

  CudaDevice& device_;
  GpuTimer timer_;
  std::string only_;
  std::map<std::string, std::string> texts_;
  int rounds_;
};

int measure(int count, char** values) {
  std::string only;
  std::map<std::string, std::string> texts;
  int rounds = 9;
  for (int k = 1; k < count; ++k) {
    const std::string word = values[k];
    if (word == "--help") {
      fmt::print(
          "usage: cuda_neighbours [PART_OF_NAME] [--rounds N] [--text PIPELINE FILE]\n\n"
          "  --text   a search's text to be measured in place of the generated one\n");
      return 0;
    }
    if (word == "--text" && k + 2 < count)
      texts[values[k + 1]] = values[k + 2], k += 2;
    else if (word == "--rounds" && k + 1 < count)
      rounds = std::atoi(values[++k]);
    else
      only = word;
  }
  CudaDevice device(cuda_driver(), make_nvrtc(), 0, "", "");
  const CudaContextGuard guard(device.gpu());
  Table table(device, only, texts, rounds);
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
  table.searched("searched, reach 2.66", "liquid", atoms(kLarge, 2.66));
  table.searched("searched, own reaches", "liquid_of_reaches", atoms(kLarge, 2.5));
  table.searched("searched, SPH forces", "sph_force", gas(100));
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
