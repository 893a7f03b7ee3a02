// One sum on one GPU and on several of them, with arrays on the first: times, how well the GPUs are used, and that the
// results are the same bits. One table on standard output; it asserts no time.
#include <fmt/core.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/cuda/gpu_program.h"
#include "bench/cuda/one_set_sum.h"

namespace nbcc::bench {
namespace {

DeviceOptions without_cache() {
  DeviceOptions options;
  options.cache_dir = "";
  return options;
}

// The first GPU, the first two, the first four, ... of this machine.
std::vector<std::string> devices_here() {
  int count = 0;
  if (nbcc_cuda_count(&count, nullptr) != NBCC_OK) return {};
  std::vector<std::string> names;
  for (int n = 1; n <= count; n *= 2) {
    std::string name = "cuda:0";
    for (int k = 1; k < n; ++k) name += "," + std::to_string(k);
    names.push_back(name);
  }
  return names;
}

bool same_bits(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (std::memcmp(a[k].data(), b[k].data(), a[k].size() * sizeof(float)) != 0) return false;
  return true;
}

class Table {
 public:
  Table(const Gpu& gpu, std::string only, int rounds) : gpu_(gpu), only_(std::move(only)), rounds_(rounds) {
    for (const std::string& name : devices_here()) devices_.push_back(std::make_unique<Device>(name, without_cache()));
    for (const auto& device : devices_) fmt::print("{}\n", device->name());
    fmt::print("{:<42} {:>9} {:>5} {:>12} {:>7} {:>10}  {}\n", "case", "N", "GPUs", "ms", "faster", "efficiency",
               "bits");
  }

  // `work_of`: what is timed, of a sum; it stands for so many runs.
  template <typename WorkOf>
  void add(const std::string& name, const std::string& pipeline, const Particles& particles, int rounds, int runs,
           WorkOf work_of) {
    if (name.find(only_) == std::string::npos) return;
    std::vector<std::unique_ptr<OneSetSum>> sums;
    std::vector<Work> works;
    std::vector<std::vector<float>> expected;
    std::vector<bool> same;
    for (const auto& device : devices_) {
      sums.push_back(std::make_unique<OneSetSum>(gpu_.gpu, *device, pipeline, particles));
      works.push_back(work_of(*sums.back()));
      works.back()();
      sums.back()->sum().wait();
      const auto results = sums.back()->results();
      if (expected.empty()) expected = results;
      same.push_back(same_bits(results, expected));
    }
    const Comparison comparison = gpu_.timer.compare(works, rounds);
    for (std::size_t k = 0; k < works.size(); ++k) {
      const double faster = comparison.times[0].median / comparison.times[k].median;
      const int gpus = 1 << k;
      fmt::print("{:<42} {:>9} {:>5} {:>12.4f} {:>7.2f} {:>10.3f}  {}\n", name, particles.n, gpus,
                 comparison.times[k].median / runs * 1e3, faster, faster / gpus, same[k] ? "same" : "DIFFERENT");
    }
    std::fflush(stdout);
  }

  // What one search found serves ten runs: then some particle has moved too far.
  void kept(const std::string& name, const Particles& particles, double skin) {
    const auto x = float(particles.fields.at("x")[0]);
    add(name, "liquid", particles, rounds_, 10, [&](OneSetSum& sum) {
      sum.sum().pairs(NBCC_PAIRS_CUTOFF).skin(skin);
      return [this, &sum, x, away = float(0.6 * skin), turn = 0]() mutable {
        const float place = ++turn % 2 == 0 ? x : x + away;
        gpu_.gpu.send(sum.array("x"), &place, sizeof(float), nullptr);
        for (int k = 0; k < 10; ++k) sum.sum().run();
      };
    });
  }
  void searched(const std::string& name, const Particles& particles) {
    add(name, "liquid", particles, rounds_, 1, [&](OneSetSum& sum) {
      sum.sum().pairs(NBCC_PAIRS_CUTOFF);
      return [&sum] { sum.sum().run(); };
    });
  }
  void all_pairs(const std::string& name, const std::string& pipeline, const Particles& particles, int rounds) {
    add(name, pipeline, particles, rounds, 1, [&](OneSetSum& sum) {
      sum.sum().pairs(NBCC_PAIRS_ALL);
      return [&sum] { sum.sum().run(); };
    });
  }
  bool wants_any(const std::string& beginning) const {
    return beginning.find(only_) != std::string::npos || only_.starts_with(beginning);
  }
  int rounds() const { return rounds_; }

 private:
  const Gpu& gpu_;
  std::string only_;
  int rounds_;
  std::vector<std::unique_ptr<Device>> devices_;
};

void measure(const Gpu& gpu, const std::string& only, int rounds) {
  Table table(gpu, only, rounds);
  constexpr std::int64_t kMillion = 1048576;
  for (const std::int64_t n : {kMillion / 64, kMillion / 8, kMillion})
    table.all_pairs("gravity", "gravity_acc", plummer(n), rounds);
  table.all_pairs("gravity and jerk", "gravity_jerk", plummer(kMillion / 8), rounds);
  if (table.wants_any("liquid")) {
    for (const std::int64_t n : {kMillion, 4 * kMillion, 16 * kMillion})
      for (const AtomOrder order : {AtomOrder::Random, AtomOrder::Lattice}) {
        const std::string name = order == AtomOrder::Random ? "liquid, any order" : "liquid, order of places";
        const Particles atoms = liquid_atoms(n, 2.5, order);
        table.searched(name + ", searched", atoms);
        table.kept(name + ", kept for ten", atoms, 0.3);
      }
  }
  table.all_pairs("gravity, large", "gravity_acc", plummer(4 * kMillion), 1);
}

}  // namespace
}  // namespace nbcc::bench

int main(int count, char** values) {
  return nbcc::bench::run_program({"cuda_several [PART_OF_NAME] [--rounds N]", 5, nbcc::bench::measure}, count, values);
}
