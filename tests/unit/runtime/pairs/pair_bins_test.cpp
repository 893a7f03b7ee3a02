// The bins of a search for pairs: slots that bins share, and the number of distances that a search of the bins
// computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "templates/cuda/pairs/cuda_pair_search_data.h"

namespace nbcc::test {
namespace {

using namespace pair_search;

std::vector<double> uniform(std::size_t count, double low, double high) {
  std::mt19937_64 random(1);
  std::vector<double> numbers(count);
  for (double& x : numbers) x = std::uniform_real_distribution<double>(low, high)(random);
  return numbers;
}

// The distances that a search computes; 0 if the bins cannot be chosen.
template <typename T>
std::int64_t tested_distances(const std::vector<double>& x, const double* cell, double cutoff) {
  const auto n = x.size() / 3;
  System system;
  std::vector<Record<T>> records(n);
  if (!prepare_system(system, cell, nullptr)) return 0;
  std::vector<std::array<double, 3>> fractions(n);
  for (std::size_t k = 0; k < n; ++k) {
    int wraps[3];
    const T at[3] = {T(x[3 * k]), T(x[3 * k + 1]), T(x[3 * k + 2])};
    if (!wrap(system, at, records[k].at, wraps)) return 0;
    fractions_of(system, records[k].at, fractions[k].data());
    for (int axis = 0; axis < 3; ++axis) {
      system.extent[axis][0] = std::max(system.extent[axis][0], ordered_bits(-fractions[k][std::size_t(axis)]));
      system.extent[axis][1] = std::max(system.extent[axis][1], ordered_bits(fractions[k][std::size_t(axis)]));
    }
  }
  system.count = unsigned(n);
  if (!choose_bins(system, cutoff, std::numeric_limits<T>::epsilon())) return 0;
  system.first_slot = 0;
  EXPECT_LE(system.slots, Index(n));
  std::vector<unsigned> first(std::size_t(system.slots) + 1);
  for (const auto& one : fractions) ++first[std::size_t(slot_at(system, one.data())) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::int64_t tested = 0;
  for (const auto& one : fractions)
    for_each_run(system, first.data(), one.data(),
                 [&](unsigned begin, unsigned end, int, int, int) { tested += end - begin; });
  return tested;
}

TEST(PairBins, empty_space_costs_no_distances) {
  constexpr double kWidth = 25;  // about 5 pairs of a particle; a search of all pairs tests 20,000 distances for each
  constexpr std::size_t kCount = 20000;
  const std::vector<double> cluster = uniform(3 * kCount, -kWidth / 2, kWidth / 2);
  std::vector<double> line(3 * kCount);  // through the corners of the cell
  for (std::size_t k = 0; k < line.size(); ++k) line[k] = cluster[k / 3] * 40 + cluster[k] * 0.02;
  std::vector<double> far = cluster;
  for (std::size_t k = 0; k < 3 * kCount / 2; ++k) far[k] += kWidth * 1e5;
  const double width = kWidth * 1e5, cube[9] = {width, 0, 0, 0, width, 0, 0, 0, width},
               slanted[9] = {width, 0, 0, width, 2 * width, 0, -width, width, width};
  for (const auto& [name, x] : {std::pair{"cluster", &cluster}, {"line", &line}, {"two clusters", &far}})
    for (const double* cell : {static_cast<const double*>(nullptr), cube, slanted}) {
      SCOPED_TRACE(name + std::string(!cell ? ", open" : cell == cube ? ", periodic" : ", slanted"));
      const std::int64_t tested = tested_distances<double>(*x, cell, 1);
      EXPECT_GT(tested, 20 * std::int64_t(kCount));
      EXPECT_LT(tested, 250 * std::int64_t(kCount));
    }
  const std::int64_t in_floats = tested_distances<float>(cluster, cube, 1);
  EXPECT_GT(in_floats, 20 * std::int64_t(kCount));
  EXPECT_LT(in_floats, 1000 * std::int64_t(kCount));
}

TEST(PairBins, bins_around_an_i_have_different_slots) {
  System system{};
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 20000; ++trial) {
    const unsigned span = trial < 10000 ? 1000u : 1u << 31;
    system.slots = trial == 0 ? Index(kLeastShared) : Index(kLeastShared + double(random() % (span - 256u)));
    system.step = unsigned(0x1p32 / double(system.slots)) + 1;
    const int b0 = int(random() >> 34), b1 = int(random() >> 34), b2 = int(random() >> 34);
    std::vector<Index> slots;
    for (int k = 0; k < 64; ++k) slots.push_back(shared_slot(system, b0 + k % 4, b1 + k / 4 % 4, b2 + k / 16));
    std::ranges::sort(slots);
    ASSERT_TRUE(slots.front() >= 0 && slots.back() < system.slots);
    ASSERT_EQ(std::ranges::adjacent_find(slots), slots.end()) << system.slots;
  }
}

}  // namespace
}  // namespace nbcc::test
