// Excluded pairs and batches of periodic sums to a tolerance. An exclusion takes out the nearest image of a pair.
// Reference: Ewald sums, less the terms of the nearest images.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/periodic_trial.h"

namespace nbcc::test {
namespace {

constexpr std::array<Vector3, 3> kTilted{{{1, 0, 0}, {0.3, 0.9, 0}, {-0.2, 0.1, 1.1}}};
using ExcludedOfI = std::vector<std::vector<std::int64_t>>;

// Of each i: itself, a neighbour in the list, others at any distance, one of them twice.
ExcludedOfI some_excluded(std::int64_t n) {
  ExcludedOfI excluded;
  for (std::int64_t i = 0; i < n; ++i) excluded.push_back({i ^ 1, i, (i + 37) % n, (i + 58) % n, (i + 37) % n});
  return excluded;
}

void exclude_pairs(PeriodicTrial& trial, const ExcludedOfI& excluded) {
  std::vector<std::int64_t> first{0}, j;
  for (const std::vector<std::int64_t>& of_i : excluded) {
    j.insert(j.end(), of_i.begin(), of_i.end());
    first.push_back(std::int64_t(j.size()));
  }
  trial.sum.set_exclusions(std::int64_t(excluded.size()), excluded.empty() ? nullptr : first.data(),
                           std::int64_t(j.size()), j.data());
}

Vector3 way_between(const std::array<Vector3, 3>& cell, const Vector3& from, const Vector3& to, int a, int b, int c) {
  Vector3 d;
  for (std::size_t axis = 0; axis < 3; ++axis)
    d[axis] = to[axis] - from[axis] + a * cell[0][axis] + b * cell[1][axis] + c * cell[2][axis];
  return d;
}

template <typename Body>
void for_near_images(const Body& body) {
  for (int a = -2; a <= 2; ++a)
    for (int b = -2; b <= 2; ++b)
      for (int c = -2; c <= 2; ++c) body(a, b, c);
}

Vector3 nearest_way(const std::array<Vector3, 3>& cell, const Vector3& from, const Vector3& to) {
  Vector3 nearest{1e9, 0, 0};
  for_near_images([&](int a, int b, int c) {
    const Vector3 d = way_between(cell, from, to, a, b, c);
    if (dot(d, d) < dot(nearest, nearest)) nearest = d;
  });
  return nearest;
}

// As error_of_charges(), the larger of potential and field; with excluded pairs.
double error_with_excluded(const PeriodicTrial& trial, const std::array<Vector3, 3>& cell,
                           const std::vector<Vector3>& x, ExcludedOfI excluded) {
  const std::vector<double>& q = trial.arrays.at("qj");
  EwaldSum exact = ewald(cell, x, q);
  double of_potential = 0, of_field = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double terms = 0, terms_of_field = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      for_near_images([&](int a, int b, int c) {
        const Vector3 d = way_between(cell, x[i], x[j], a, b, c);
        if (dot(d, d) == 0) return;
        terms += std::fabs(q[j]) / std::sqrt(dot(d, d));
        terms_of_field += std::fabs(q[j]) / dot(d, d);
      });
    std::ranges::sort(excluded[i]);
    excluded[i].erase(std::ranges::unique(excluded[i]).begin(), excluded[i].end());
    for (const std::int64_t of_i : excluded[i]) {
      const auto j = std::size_t(of_i);
      if (j == i) continue;
      const Vector3 d = nearest_way(cell, x[i], x[j]);
      const double r = std::sqrt(dot(d, d));
      exact.potential[i] -= q[j] / r;
      for (std::size_t axis = 0; axis < 3; ++axis) exact.field[i][axis] -= q[j] * d[axis] / (r * r * r);
      terms -= std::fabs(q[j]) / r;
      terms_of_field -= std::fabs(q[j]) / (r * r);
    }
    of_potential += std::pow((trial.arrays.at("pot")[i] - exact.potential[i]) / terms, 2);
    Vector3 way;
    for (std::size_t axis = 0; axis < 3; ++axis)
      way[axis] = trial.arrays.at("field")[3 * i + axis] - exact.field[i][axis];
    of_field += dot(way, way) / (terms_of_field * terms_of_field);
  }
  return std::sqrt(std::max(of_potential, of_field) / double(x.size()));
}

void set_charges(PeriodicTrial& trial, std::size_t count) {
  trial.arrays["qj"].clear();
  for (std::size_t j = 0; j < count; ++j) trial.arrays["qj"].push_back(j % 2 == 0 ? -1 : 1.5);
}

// Particles in several cells: the nearest image of a pair may be any. By a tree and over all pairs; then without
// exclusions, and after the particles have moved.
void expect_nearest_images_are_excluded(std::shared_ptr<KernelDevice> device, std::size_t count) {
  std::mt19937_64 random(5);
  for (const auto& cell : {kCube, kTilted}) {
    std::vector<Vector3> x = random_places(count, cell, random);
    // The reference has the particles in the cell.
    const auto moved = [&] {
      std::vector<Vector3> all = x;
      for (std::size_t i = 0; i < x.size(); i += 3) all[i] = way_between(cell, {0, 0, 0}, x[i], 1, -2, 0);
      return all;
    };
    const ExcludedOfI excluded = some_excluded(std::int64_t(count)), none(count);
    PeriodicTrial trial(kCharges, Precision::Single, device);
    trial.set_cell(cell);
    set_charges(trial, count);
    exclude_pairs(trial, excluded);
    set_tolerance(trial.sum, 1e-3, {.order = 4, .leaf = 16, .separation = 0.4});
    trial.run(moved());
    ASSERT_EQ(trial.sum.statistics().far.order, 4);
    EXPECT_LT(error_with_excluded(trial, cell, x, excluded), 1e-3);
    EXPECT_GT(error_with_excluded(trial, cell, x, none), 2e-3);
    const auto once = trial.arrays;
    trial.run(moved());
    EXPECT_EQ(once, trial.arrays);
    exclude_pairs(trial, {});
    trial.run(moved());
    EXPECT_LT(error_with_excluded(trial, cell, x, none), 1e-3);
    exclude_pairs(trial, excluded);
    for (Vector3& one : x)
      for (double& component : one) component += 0.31;
    trial.run(moved());
    EXPECT_LT(error_with_excluded(trial, cell, x, excluded), 1e-3);
    set_tolerance(trial.sum, 1e-6);
    trial.run(moved());
    EXPECT_LE(error_with_excluded(trial, cell, x, excluded), 1e-6);
  }
}

std::shared_ptr<KernelDevice> cpu_of(int threads) {
  return std::make_shared<CpuDevice>(threads, detect_isa(), cpu_toolchain(), "", "");
}

TEST(PeriodicExclusions, TakeOutTheNearestImage) { expect_nearest_images_are_excluded(cpu_of(2), 160); }

TEST(PeriodicExclusions, TakeOutTheNearestImageOnShim) {
  const CudaShim shim;
  expect_nearest_images_are_excluded(std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", ""), 90);
}

// On a lattice images at opposite sides are equally near: a GPU excludes the one that the host excludes.
TEST(PeriodicExclusions, OfEquallyNearImagesAreThoseOfTheHostOnShim) {
  constexpr int kSide = 4, kCount = kSide * kSide * kSide;
  std::vector<Vector3> x;
  for (int k = 0; k < kCount; ++k)
    x.push_back({(k / 16 + 0.5) / kSide, (k / 4 % 4 + 0.5) / kSide, (k % 4 + 0.5) / kSide});
  ExcludedOfI excluded;
  for (std::int64_t i = 0; i < kCount; ++i) excluded.push_back({i ^ 2, i ^ 8, i ^ 32, i ^ 42});
  const CudaShim shim;
  std::vector<std::vector<double>> fields;
  for (const auto& device : {cpu_of(1), std::shared_ptr<KernelDevice>(
                                            std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", ""))}) {
    PeriodicTrial trial(kCharges, Precision::Single, device);
    trial.set_cell(kCube);
    set_charges(trial, kCount);
    exclude_pairs(trial, excluded);
    set_tolerance(trial.sum, 1e-3, {.order = 4, .leaf = 4, .separation = 0.4});
    trial.run(x);
    EXPECT_LE(trial.sum.statistics().far.error, 1e-3);
    fields.push_back(trial.arrays.at("field"));
  }
  // The term of an image at half the cell is 4 or 6; the sums of all |terms| are a few hundred.
  for (std::size_t k = 0; k < fields[0].size(); ++k) EXPECT_NEAR(fields[0][k], fields[1][k], 1) << k;
}

// As a Drude particle on its core: the terms of the pair are infinite.
TEST(PeriodicExclusions, OfParticlesAtOnePosition) {
  std::mt19937_64 random(6);
  std::vector<Vector3> x = random_places(200, kCube, random);
  ExcludedOfI excluded;
  for (std::int64_t i = 0; i < 200; ++i) excluded.push_back({i ^ 1});
  PeriodicTrial trial(kCharges, Precision::Double);
  trial.set_cell(kCube);
  set_charges(trial, x.size());
  exclude_pairs(trial, excluded);
  for (std::size_t k = 0; k < x.size(); k += 2) x[k + 1] = x[k], x[k + 1][2] += 1e-5;
  for (const FarChoice& choice : {FarChoice{}, FarChoice{.order = 8, .leaf = 16, .separation = 0.4}}) {
    set_tolerance(trial.sum, 1e-7, choice);
    trial.run(x);
    const std::vector<double> apart = trial.arrays["pot"];
    std::vector<Vector3> at_one = x;
    for (std::size_t k = 0; k < x.size(); k += 2) at_one[k + 1] = x[k];
    trial.run(at_one);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(trial.arrays["pot"][i], apart[i], 0.2) << i;
    double largest = 0;
    for (const double one : trial.arrays["pot"]) largest = std::max(largest, std::fabs(one));
    EXPECT_LT(largest, 1e4);  // a pair has 1e5
  }
}

TEST(PeriodicExclusions, OfNamedImagesAreRefused) {
  PeriodicTrial trial(kCharges, Precision::Double);
  trial.set_cell(kCube);
  set_charges(trial, 2);
  const std::int64_t first[] = {0, 1, 1}, j[] = {1}, images[] = {0, 0, 1};
  trial.sum.set_exclusions(2, first, 1, j, images);
  set_tolerance(trial.sum, 1e-5);
  EXPECT_THROW(trial.run({{0.1, 0.2, 0.3}, {0.4, 0.5, 0.6}}), UsageError);
}

// ---- batches
// ------------------------------------------------------------------------------------------------------------

// Each batch has its own cell and its own exclusions, and the sums of a run of its own.
TEST(PeriodicBatches, AreSumsOfTheirOwn) {
  std::mt19937_64 random(8);
  const std::vector<std::array<Vector3, 3>> cells{kCube, kTilted, kCube};
  const std::vector<std::size_t> sizes{60, 1, 240};
  std::vector<Vector3> all;
  std::vector<std::int64_t> ids;
  std::vector<std::vector<double>> vectors(3);
  for (std::size_t b = 0; b < 3; ++b) {
    for (const Vector3& one : random_places(sizes[b], cells[b], random)) all.push_back(one);
    ids.insert(ids.end(), sizes[b], std::int64_t(b));
    for (std::size_t k = 0; k < 3; ++k) vectors[k].insert(vectors[k].end(), cells[b][k].begin(), cells[b][k].end());
  }
  ExcludedOfI excluded(all.size());
  excluded[3] = {4, 5}, excluded[70] = {300, 71};
  PeriodicTrial trial(kCharges, Precision::Double);
  set_charges(trial, all.size());
  const auto count = std::int64_t(all.size());
  trial.sum.set_batches(3, count, ids.data(), count, ids.data());
  const char* const names[] = {"a", "b", "c"};
  for (std::size_t k = 0; k < 3; ++k) trial.sum.set_param_of_groups(names[k], vectors[k]);
  exclude_pairs(trial, excluded);
  set_tolerance(trial.sum, 1e-7);
  for (int run = 0; run < 2; ++run) {
    trial.run(all);
    EXPECT_EQ(trial.sum.statistics().method, "far batches") << trial.sum.statistics().reason;
    EXPECT_LE(trial.sum.statistics().far.error, 1e-7);
    EXPECT_GT(trial.sum.statistics().far.images, 0);
    std::size_t first = 0;
    for (std::size_t b = 0; b < 3; ++b) {
      PeriodicTrial one(kCharges, Precision::Double);
      one.set_cell(cells[b]);
      const auto begin = std::ptrdiff_t(first), end = std::ptrdiff_t(first + sizes[b]);
      const std::vector<double>& q = trial.arrays["qj"];
      one.arrays["qj"].assign(q.begin() + begin, q.begin() + end);
      const std::vector<Vector3> x(all.begin() + begin, all.begin() + end);
      ExcludedOfI own(excluded.begin() + begin, excluded.begin() + end);
      for (std::vector<std::int64_t>& of_i : own)
        for (std::int64_t& j : of_i) j -= std::int64_t(first);
      for (std::size_t k = 0; k < sizes[b]; ++k) {
        one.arrays["pot"].push_back(trial.arrays["pot"][first + k]);
        for (std::size_t axis = 0; axis < 3; ++axis)
          one.arrays["field"].push_back(trial.arrays["field"][3 * (first + k) + axis]);
      }
      if (sizes[b] > 1) {
        EXPECT_LE(error_with_excluded(one, cells[b], x, own), 1e-7) << b;
      } else {
        EXPECT_NEAR(one.arrays["pot"][0], ewald(cells[b], x, one.arrays["qj"]).potential[0], 1e-5);
      }
      first += sizes[b];
    }
  }
}

}  // namespace
}  // namespace nbcc::test
