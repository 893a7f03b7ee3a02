// Excluded pairs of sums with a far field: near ones do not act, distant ones are taken out of the sums through grids.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/asked.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/far_trial.h"
#include "tests/support/on_gpu.h"

namespace nbcc::test {
namespace {

using Excluded = std::vector<std::vector<std::int64_t>>;

// Of each i: itself, another particle at the same position, and others at any distance, one of them twice.
Excluded near_and_distant(std::int64_t n) {
  Excluded excluded;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::int64_t>& of_i = excluded.emplace_back(std::vector<std::int64_t>{i ^ 1, i, (i + 58) % n});
    for (std::int64_t k = 1; k < 40; ++k) of_i.push_back((i + 29 * k) % n);
  }
  return excluded;
}

// Without softening the terms of coincident particles are infinite.
void fill_for_exclusions(FarTrial& trial, std::int64_t n) {
  trial.fill("uniform", n, n, true, 3);
  trial.set_param("eps2", {0});
  for (const char* const name : {"xi", "xj"})
    for (std::size_t k = 0; k < std::size_t(n); k += 2)
      for (std::size_t axis = 0; axis < 3; ++axis)
        trial.arrays[name][3 * (k + 1) + axis] = trial.arrays[name][3 * k + axis];
  trial.exclude(near_and_distant(n));
}

void expect_kept(FarTrial& trial, double tolerance) {
  trial.run();
  EXPECT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  EXPECT_LE(trial.error(), tolerance);
}

TEST(FarExclusions, KeepTheTolerance) {
  constexpr std::int64_t kCount = 3000;
  for (const double tolerance : {1e-3, 1e-8}) {
    FarTrial trial(FarTrial::library("gravity"), Precision::Single);
    fill_for_exclusions(trial, kCount);
    set_tolerance(trial.sum, tolerance, {.leaf = 16});
    expect_kept(trial, tolerance);
    expect_kept(trial, tolerance);
    Excluded fewer = near_and_distant(kCount);
    for (std::vector<std::int64_t>& of_i : fewer) of_i.resize(2);
    trial.exclude(fewer);
    expect_kept(trial, tolerance);
    trial.exclude({});
    trial.set_param("eps2", {1e-4});
    expect_kept(trial, tolerance);
  }
}

TEST(FarExclusions, OfChosenI) {
  FarTrial trial(FarTrial::library("gravity"), Precision::Double);
  fill_for_exclusions(trial, 3000);
  set_tolerance(trial.sum, 1e-4, {.leaf = 16});
  std::vector<std::int64_t> list;
  for (std::int64_t i = 2990; i > 0; i -= 7) list.push_back(i);
  trial.run({.i_count = std::int64_t(list.size()), .i_list = list.data()});
  EXPECT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  EXPECT_LE(trial.error(list), 1e-4);
}

// With a separation nothing is chosen, so that pairs remain distant whatever their error. Twice, with the same bits.
void expect_distant_pairs_taken_out(std::shared_ptr<KernelDevice> device, std::int64_t count) {
  FarTrial trial(FarTrial::library("gravity"), Precision::Single, std::move(device));
  fill_for_exclusions(trial, count);
  set_tolerance(trial.sum, 1e-3, {.order = 6, .leaf = 16, .separation = 0.4});
  expect_kept(trial, 1e-3);
  const auto once = trial.arrays;
  expect_kept(trial, 1e-3);
  EXPECT_EQ(once, trial.arrays);
}

// A run that chooses may be interrupted at any time: the next one chooses again.
TEST(FarExclusions, OfTheRunAfterAnInterruptedChoice) {
  FarTrial trial(FarTrial::library("gravity"), Precision::Single);
  std::size_t call = 1;
  for (bool was_interrupted = true; was_interrupted; call += 1 + call / 2) {
    fill_for_exclusions(trial, 3000);
    set_tolerance(trial.sum, 1e-3, {.order = 6, .leaf = 16, .separation = 0.4});
    Asked asked(call);
    try {
      trial.run({.progress = &asked.progress});
      was_interrupted = false;
    } catch (const Interrupted&) {
    }
    expect_kept(trial, 1e-3);
  }
  EXPECT_GT(call, 10u);
}

TEST(FarExclusions, AreTakenOutOfDistantPairs) {
  expect_distant_pairs_taken_out(std::make_shared<CpuDevice>(2, detect_isa(), cpu_toolchain(), "", ""), 3000);
}

TEST(FarExclusions, AreTakenOutOfDistantPairsOnShim) {
  const CudaShim shim;
  expect_distant_pairs_taken_out(std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", ""), 1200);
}

class FarExclusionsOnGpu : public OnGpu {};
TEST_F(FarExclusionsOnGpu, AreTakenOutOfDistantPairs) {
  expect_distant_pairs_taken_out(std::shared_ptr<KernelDevice>(std::shared_ptr<void>(), &*device_), 6000);
}

}  // namespace
}  // namespace nbcc::test
