// Particles -> rows of a table. Entry points: Gpu, Contest, rms_difference().
#include "bench/cuda/contest.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace nbcc::bench {
namespace {

constexpr std::size_t kFinalists = 3;  // of each family: a rough trial is good to a few percent

DeviceOptions options(bool tuned) {
  DeviceOptions given;
  if (!tuned) given.cache_dir = "";
  return given;
}

}  // namespace

Gpu::Gpu(bool tuned) : gpu(cuda_driver(), 0), timer(gpu), device("cuda:0", options(tuned)) {}

double rms_difference(const std::vector<double>& a, int row_of_a, const std::vector<double>& b, int row_of_b) {
  double largest = 0;
  const std::size_t n = b.size() / std::size_t(row_of_b);
  for (std::size_t c = 0; c < std::size_t(row_of_b); ++c) {
    double difference = 0, size = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const double x = b[k * std::size_t(row_of_b) + c], d = a[k * std::size_t(row_of_a) + c] - x;
      difference += d * d;
      size += x * x;
    }
    const double rms = std::sqrt(difference / size);
    if (!(rms <= largest)) largest = rms;
    if (std::isnan(largest)) break;
  }
  return largest;
}

Contest::Contest(const Gpu& gpu, const std::string& pipeline, nbcc_precision precision)
    : gpu_(gpu),
      pipeline_(pipeline),
      precision_(precision),
      generated_(gpu.gpu, gpu.device, pipeline, precision),
      families_(hand_families(pipeline, precision)) {
  for (const HandFamily& family : families_) {
    add_parts_.push_back(compile_add_parts(gpu.gpu, gpu.compiler, family));
    auto& shapes = sums_.emplace_back();
    for (const HandShape& shape : family.shapes)
      shapes.push_back(std::make_unique<HandSum>(gpu.gpu, gpu.compiler, family, shape, add_parts_.back().get()));
  }
}

// Sums of single precision terms without blocks lose more with every term.
double Contest::tolerance(std::int64_t n) const {
  return precision_ == NBCC_SINGLE ? 1e-5 + 1e-10 * double(n) : precision_ == NBCC_MIXED ? 1e-6 : 1e-11;
}

std::vector<Contest::Entry> Contest::fastest(std::size_t family, const HandArrays& arrays,
                                             const std::vector<double>& expected) {
  std::vector<Entry> entries;
  double best = 1e30;
  for (const auto& sum : sums_[family])
    for (const int parts : sum->possible_parts(arrays.n)) {
      sum->run(arrays, parts);
      const double off = rms_difference(sum->results(arrays), families_[family].row, expected, generated_.row());
      if (!(off <= tolerance(arrays.n))) {
        agreed_ = false;
        fmt::print("WRONG: {}, {}, {} parts, N = {}: differs by {:.2e}\n", families_[family].name,
                   describe(sum->shape()), parts, arrays.n, off);
        continue;
      }
      const double seconds = gpu_.timer.rough_seconds([&] { sum->run(arrays, parts); }, best);
      best = std::min(best, seconds);
      entries.push_back({sum.get(), parts, seconds, off});
    }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.seconds < b.seconds; });
  if (entries.size() > kFinalists) entries.resize(kFinalists);
  return entries;
}

std::vector<Row> Contest::rows(const Particles& particles, int rounds) {
  generated_.bind(particles, Arrays::OfDevice);
  generated_.run();
  const std::vector<double> expected = generated_.results();

  std::vector<Work> works{[this] { generated_.run(); }};
  std::vector<std::unique_ptr<HandArrays>> arrays;
  std::vector<Entry> finalists;
  for (std::size_t k = 0; k < families_.size(); ++k) {
    const HandFamily& family = families_[k];
    arrays.push_back(std::make_unique<HandArrays>(gpu_.gpu, family, particles, family.divides_j ? kMostParts : 1));
    const HandArrays& of_family = *arrays.back();
    for (const Entry& entry : fastest(k, of_family, expected)) {
      finalists.push_back(entry);
      works.push_back([&gpu = gpu_.gpu, entry, &of_family] {
        const CudaContextGuard guard(gpu);
        entry.sum->run(of_family, entry.parts);
      });
    }
  }
  const Comparison times = gpu_.timer.compare(works, rounds);

  const double interactions = double(particles.n) * double(particles.n) * 1e-9;
  std::vector<Row> rows;
  for (const HandFamily& family : families_) {
    std::size_t best = 0;  // 0 is the generated one
    for (std::size_t k = 0; k < finalists.size(); ++k)
      if (&finalists[k].sum->family() == &family && (best == 0 || times.times[k + 1].median < times.times[best].median))
        best = k + 1;
    if (best == 0) continue;
    const Entry& entry = finalists[best - 1];
    rows.push_back({{"N", particles.n},
                    {"by_hand", family.name},
                    {"generated_G/s", interactions / times.times[0].median},
                    {"by_hand_G/s", interactions / times.times[best].median},
                    {"generated/by_hand", 1 / times.ratios[best]},
                    {"shape_by_hand", describe(entry.sum->shape())},
                    {"parts", entry.parts},
                    {"registers", entry.sum->registers()},
                    {"difference", entry.difference}});
  }
  return rows;
}

}  // namespace nbcc::bench
