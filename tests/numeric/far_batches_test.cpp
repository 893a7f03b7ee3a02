// Sums to a tolerance over batches, and over j in parts.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/far_trial.h"
#include "tests/support/on_gpu.h"

namespace nbcc::test {
namespace {

std::shared_ptr<KernelDevice> device_of(const CudaShim& shim) {
  return std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
}

std::vector<std::int64_t> ids_of(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> ids;
  for (std::size_t b = 0; b < sizes.size(); ++b) ids.insert(ids.end(), std::size_t(sizes[b]), std::int64_t(b));
  return ids;
}

TEST(FarBatches, LargeOnesHaveFarFieldsAndOthersAreSummedOverLists) {
  constexpr double kTolerance = 0.1;
  const std::vector<std::int64_t> ids = ids_of({500, 9000, 30});
  const auto count = std::int64_t(ids.size());
  FarTrial trial(FarTrial::library("gravity"), Precision::Single);
  trial.fill("uniform", count, count, true, 3);
  trial.set_batches(3, ids, ids);
  set_tolerance(trial.sum, kTolerance);
  for (int run = 0; run < 2; ++run) {
    trial.run();
    EXPECT_EQ(trial.sum.statistics().method, "far batches") << trial.sum.statistics().reason;
    const FarStatistics found = trial.sum.statistics().far;
    EXPECT_GT(found.order, 0);
    EXPECT_LE(found.error, kTolerance);
    EXPECT_LE(trial.error(), kTolerance);
    EXPECT_GT(trial.error(), 0);
    trial.set_batches(3, ids, ids);  // the same batches again: nothing is chosen again
    EXPECT_EQ(found.seconds.first == 0, run > 0);
  }
  set_tolerance(trial.sum, 1e-9);
  EXPECT_THROW(trial.sum.run(), UsageError);
}

// With exclusions, which are numbered over all batches; each batch has a far field.
void expect_batches_with_exclusions(FarTrial& trial) {
  const std::vector<std::int64_t> ids = ids_of({700, 900});
  const auto count = std::int64_t(ids.size());
  trial.fill("uniform", count, count, true, 5);
  trial.set_param("eps2", {0});
  std::vector<std::vector<std::int64_t>> excluded;
  for (std::int64_t i = 0; i < count; ++i) excluded.push_back({i, (i + 9) % count, (i + 350) % count});
  trial.exclude(excluded);
  trial.set_batches(2, ids, ids);
  set_tolerance(trial.sum, 1e-3, {.order = 5, .leaf = 16});
  trial.run();
  EXPECT_EQ(trial.sum.statistics().method, "far batches") << trial.sum.statistics().reason;
  EXPECT_LE(trial.error(), 1e-3);
  std::vector<std::int64_t> list;
  for (std::int64_t i = count - 2; i > 0; i -= 3) list.push_back(i);
  trial.run({.i_count = std::int64_t(list.size()), .i_list = list.data()});
  EXPECT_EQ(trial.sum.statistics().method, "far batches") << trial.sum.statistics().reason;
  EXPECT_LE(trial.error(list), 1e-3);
}

TEST(FarBatches, HaveExclusions) {
  FarTrial trial(FarTrial::library("gravity"), Precision::Single);
  expect_batches_with_exclusions(trial);
}

TEST(FarBatches, HaveExclusionsOnShim) {
  const CudaShim shim;
  FarTrial trial(FarTrial::library("gravity"), Precision::Single, device_of(shim));
  expect_batches_with_exclusions(trial);
}

// The j in parts, one of them empty, one too small for a far field.
void expect_parts(FarTrial& trial, std::int64_t n, double tolerance) {
  trial.fill("uniform", n, n, true, 3);
  set_tolerance(trial.sum, tolerance, {.leaf = 16});
  const std::vector<std::int64_t> ends{0, n / 2, n / 2, n / 2 + 3, n};
  const auto bind_part = [&](std::size_t part) {
    const std::int64_t begin = ends[part], count = ends[part + 1] - begin;
    trial.sum.bind("xj", {trial.arrays["xj"].data() + 3 * begin, Element::Double, count, 24, 8});
    trial.sum.bind("mj", {trial.arrays["mj"].data() + begin, Element::Double, count, 8, 8});
    trial.sum.set_offsets(0, begin);
  };
  for (std::size_t part = 0; part < 4; ++part) {
    bind_part(part);
    trial.sum.run({.part = part == 0 ? JPart::First : part == 3 ? JPart::Last : JPart::Next});
    EXPECT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  }
  trial.sum.wait();
  const auto found = trial.arrays;
  trial.bind();
  trial.sum.set_offsets(0, 0);
  trial.run();
  EXPECT_LE(trial.error(), tolerance);
  trial.arrays["acc"] = found.at("acc"), trial.arrays["pot"] = found.at("pot");
  EXPECT_LE(trial.error(), tolerance);
  EXPECT_GT(trial.error(), 0);
}

// The j of a part have other numbers than the i of the same indices.
Source without_the_particle_itself() {
  return {"index.pipe",
          "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) vec3 acc; output(sum) real pot;\n"
          "skip_if(i_index == j_index); vec3 d = xj - xi; real r = rsqrt(dot(d, d));\n"
          "acc += mj * r * r * r * d; pot -= mj * r;"};
}

TEST(FarParts, KeepTheTolerance) {
  for (const double tolerance : {1e-3, 1e-8})
    for (const Source& source : {FarTrial::library("gravity"), without_the_particle_itself()}) {
      FarTrial trial(source, Precision::Single);
      expect_parts(trial, 3000, tolerance);
    }
}

TEST(FarParts, KeepTheToleranceOnShim) {
  for (const Source& source : {FarTrial::library("gravity"), without_the_particle_itself()}) {
    const CudaShim shim;
    FarTrial trial(source, Precision::Single, device_of(shim));
    expect_parts(trial, 1200, 1e-3);
  }
}

class FarBatchesOnGpu : public OnGpu {};
TEST_F(FarBatchesOnGpu, AndPartsKeepTheTolerance) {
  const std::shared_ptr<KernelDevice> device(std::shared_ptr<void>(), &*device_);
  FarTrial batches(FarTrial::library("gravity"), Precision::Single, device);
  expect_batches_with_exclusions(batches);
  for (const double tolerance : {1e-3, 1e-8}) {
    FarTrial parts(FarTrial::library("gravity"), Precision::Single, device);
    expect_parts(parts, 3000, tolerance);
  }
}

TEST(FarParts, AreAllToTheToleranceOrNone) {
  FarTrial trial(FarTrial::library("gravity"), Precision::Double);
  trial.fill("uniform", 1000, 1000, true, 3);
  set_tolerance(trial.sum, 1e-3, {.leaf = 16});
  trial.sum.run({.part = JPart::First});
  EXPECT_TRUE(trial.was_far());
  set_tolerance(trial.sum, 1e-2, {.leaf = 16});
  EXPECT_THROW(trial.sum.run({.part = JPart::Last}), UsageError);
  trial.sum.run({.part = JPart::First});
  trial.sum.set_pairs(PairChoice::All);
  EXPECT_THROW(trial.sum.run({.part = JPart::Last}), UsageError);
  trial.sum.run({.part = JPart::First});
  const auto all_pairs = [&] {
    trial.sum.run({.part = JPart::Last});
    EXPECT_EQ(trial.sum.statistics().method, "all pairs");
    return trial.arrays;
  };
  const auto found = all_pairs();
  trial.sum.run({.part = JPart::First});
  trial.sum.set_pairs(PairChoice::Auto);
  EXPECT_EQ(all_pairs(), found);
}

}  // namespace
}  // namespace nbcc::test
