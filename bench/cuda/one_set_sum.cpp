// Entry points: those of one_set_sum.h.
#include "bench/cuda/one_set_sum.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

#include "bench/embedded_texts.h"

namespace nbcc::bench {

Particles liquid_atoms(std::int64_t n, double reach, AtomOrder order) {
  constexpr double kDensity = 0.8442;
  std::mt19937_64 random(7);
  const auto cells = std::int64_t(std::ceil(std::cbrt(double(n) * 1.01 / 4)));
  const double side = std::cbrt(double(n) / kDensity), cell = side / double(cells);
  std::vector<std::int64_t> sites(std::size_t(4 * cells * cells * cells));
  std::iota(sites.begin(), sites.end(), 0);
  std::shuffle(sites.begin(), sites.end(), random);
  if (order == AtomOrder::Lattice) std::sort(sites.begin(), sites.begin() + n);
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

OneSetSum::OneSetSum(const CudaGpu& gpu, const Device& device, const std::string& pipeline, const Particles& particles)
    : gpu_(gpu),
      pipeline_(Pipeline::from_text(device, std::string(embedded_pipeline(pipeline)), pipeline)),
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
}

double OneSetSum::difference() {
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

std::vector<std::vector<float>> OneSetSum::results() {
  std::vector<std::vector<float>> all;
  for (const auto& [buffer, components] : outputs_) {
    all.emplace_back(std::size_t(n_ * components));
    gpu_.fetch(all.back().data(), buffer->data(), all.back().size() * sizeof(float), nullptr);
  }
  gpu_.synchronize(nullptr);
  return all;
}

}  // namespace nbcc::bench
