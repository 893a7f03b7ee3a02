// Particles -> an order, lists of neighbours and their sums by hand. Entry point: HandLists.
#include "bench/cuda/hand_lists.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "bench/embedded_texts.h"

namespace nbcc::bench {
namespace {

constexpr unsigned kThreads = 128;  // of a block

// In columns, as a search on a GPU sorts them: about as wide as 32 particles are high.
std::vector<std::int64_t> column_order(const Particles& gas) {
  const std::vector<double>& x = gas.fields.at("x");
  const double width = std::cbrt(32.0 / double(gas.n));
  std::vector<std::int64_t> order(std::size_t(gas.n));
  std::iota(order.begin(), order.end(), 0);
  const auto column = [&](std::int64_t k, int d) { return std::int64_t(x[std::size_t(3 * k + d)] / width); };
  std::ranges::sort(order, [&](std::int64_t a, std::int64_t b) {
    if (column(a, 0) != column(b, 0)) return column(a, 0) < column(b, 0);
    if (column(a, 1) != column(b, 1)) return column(a, 1) < column(b, 1);
    return std::pair(x[std::size_t(3 * a + 2)], a) < std::pair(x[std::size_t(3 * b + 2)], b);
  });
  return order;
}

Particles in_order(const Particles& gas, const std::vector<std::int64_t>& order) {
  Particles sorted = gas;
  for (auto& [name, values] : sorted.fields) {
    const std::vector<double>& from = gas.fields.at(name);
    const std::size_t width = from.size() / std::size_t(gas.n);
    for (std::size_t k = 0; k < order.size(); ++k)
      for (std::size_t c = 0; c < width; ++c) values[k * width + c] = from[std::size_t(order[k]) * width + c];
  }
  return sorted;
}

// Of each particle those nearer than twice the larger of both smoothing lengths.
std::vector<std::vector<int>> neighbours_of(const Particles& gas) {
  const std::vector<double>&x = gas.fields.at("x"), &h = gas.fields.at("h");
  const double reach = 2 * *std::ranges::max_element(h);
  const auto cells = std::max<std::int64_t>(1, std::int64_t(1 / reach));
  const auto cell = [&](double at) { return std::clamp<std::int64_t>(std::int64_t(at * double(cells)), 0, cells - 1); };
  std::vector<std::vector<int>> in_cell(std::size_t(cells * cells * cells)), found(std::size_t(gas.n));
  for (std::size_t k = 0; k < found.size(); ++k)
    in_cell[std::size_t((cell(x[3 * k]) * cells + cell(x[3 * k + 1])) * cells + cell(x[3 * k + 2]))].push_back(int(k));
  const auto look = [&](std::size_t i, const std::vector<int>& others) {
    for (const int j : others) {
      double r2 = 0;
      for (std::size_t d = 0; d < 3; ++d) r2 += std::pow(x[3 * i + d] - x[3 * std::size_t(j) + d], 2);
      const double larger = 2 * std::max(h[i], h[std::size_t(j)]);
      if (r2 < larger * larger) found[i].push_back(j);
    }
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::int64_t low[3], high[3];
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] = std::max<std::int64_t>(0, cell(x[3 * i + d]) - 1);
      high[d] = std::min(cells - 1, cell(x[3 * i + d]) + 1);
    }
    for (std::int64_t a = low[0]; a <= high[0]; ++a)
      for (std::int64_t b = low[1]; b <= high[1]; ++b)
        for (std::int64_t c = low[2]; c <= high[2]; ++c) look(i, in_cell[std::size_t((a * cells + b) * cells + c)]);
  }
  return found;
}

void send(const CudaGpu& gpu, CudaBuffer& to, const void* from, std::size_t bytes) {
  if (!to.reserve(bytes)) throw std::runtime_error("out of memory of the GPU");
  gpu.send(to.data(), from, bytes, nullptr);
  gpu.synchronize(nullptr);
}

}  // namespace

HandLists::HandLists(const CudaGpu& gpu, const HandCompiler& compiler, const Particles& gas)
    : gpu_(gpu), order_(column_order(gas)), rows_(gpu), list_(gpu), counts_(gpu), results_(gpu) {
  const Particles sorted = in_order(gas, order_);
  const HandProblem problem = hand_families("sph_force", NBCC_SINGLE).front().pack(sorted);
  half_alpha_ = float(0.5 * problem.params[0]), beta_ = float(problem.params[1]);
  const std::vector<std::vector<int>> found = neighbours_of(sorted);
  std::size_t most = 0;
  for (const auto& of_one : found) most = std::max(most, of_one.size());
  std::vector<int> list(most * found.size()), counts;
  for (std::size_t i = 0; i < found.size(); ++i) {
    counts.push_back(int(found[i].size()));
    for (std::size_t k = 0; k < found[i].size(); ++k) list[k * found.size() + i] = found[i][k];
  }
  send(gpu, rows_, problem.particles.data(), problem.particles.size());
  send(gpu, list_, list.data(), list.size() * sizeof(int));
  send(gpu, counts_, counts.data(), counts.size() * sizeof(int));
  if (!results_.reserve(found.size() * 32)) throw std::runtime_error("out of memory of the GPU");
  for (const int ahead : {0, 1})
    for (const int blocks : {4, 6, 8}) {
      const std::vector<std::string> options = {fmt::format("-DTHREADS={}", kThreads),
                                                fmt::format("-DBLOCKS={}", blocks), "-DUNROLL=2",
                                                fmt::format("-DAHEAD={}", ahead), "--use_fast_math"};
      const HandCode code =
          compiler.compile(std::string(embedded_cuda_kernel("sph_lists")), "sum_lists", gpu.architecture(), options);
      shapes_.push_back({fmt::format("{} blocks{}", blocks, ahead ? ", read ahead" : ""),
                         std::make_unique<HandProgram>(gpu, code, "sum_lists")});
    }
}

void HandLists::run(const Shape& shape) {
  CudaDevicePointer rows = rows_.data(), list = list_.data(), counts = counts_.data(), results = results_.data();
  int n = int(order_.size());
  void* arguments[] = {&rows, &list, &counts, &results, &n, &half_alpha_, &beta_};
  shape.program->launch((unsigned(n) + kThreads - 1) / kThreads, 1, kThreads, arguments);
}

std::vector<double> HandLists::accelerations() const {
  std::vector<float> rows(order_.size() * 8);
  gpu_.fetch(rows.data(), results_.data(), rows.size() * sizeof(float), nullptr);
  gpu_.synchronize(nullptr);
  std::vector<double> all(order_.size() * 3);
  for (std::size_t k = 0; k < order_.size(); ++k)
    for (std::size_t d = 0; d < 3; ++d) all[std::size_t(order_[k]) * 3 + d] = rows[k * 8 + d];
  return all;
}

}  // namespace nbcc::bench
