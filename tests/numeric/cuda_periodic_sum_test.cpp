// Periodic sums by tolerance in the memory of a GPU, simulated and real, against Ewald sums.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "runtime/cuda/group/cuda_group.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/on_gpu.h"
#include "tests/support/periodic_trial.h"

namespace nbcc::test {
namespace {

// Numbers with which few particles have a far field.
constexpr FarChoice kNumbers{.order = 4, .leaf = 16, .separation = 0.4};
constexpr std::array<Vector3, 3> kSlanted{{{1, 0, 0}, {0.3, 0.9, 0}, {-0.2, 0.1, 1.1}}};

void fill(PeriodicTrial& trial, const std::array<Vector3, 3>& cell, std::size_t count) {
  trial.set_cell(cell);
  trial.arrays["qj"].clear();
  for (std::size_t j = 0; j < count; ++j) trial.arrays["qj"].push_back(j % 2 == 0 ? -1 : 1);
}

TEST(PeriodicSumOnShim, AgreesWithTheHost) {
  std::mt19937_64 random(7);
  for (const auto& cell : {kCube, kSlanted}) {
    const std::vector<Vector3> x = random_places(160, cell, random);
    PeriodicTrial host(kCharges, Precision::Single, 1);
    fill(host, cell, x.size());
    set_tolerance(host.sum, 1e-3, kNumbers);
    host.run(x);
    const CudaShim shim;
    PeriodicTrial trial(kCharges, Precision::Single,
                        std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", ""));
    fill(trial, cell, x.size());
    set_tolerance(trial.sum, 1e-3, kNumbers);
    trial.run(x);
    ASSERT_EQ(trial.sum.statistics().far.order, 4);
    const double on_host = error_of_charges(host, cell, x), on_gpu = error_of_charges(trial, cell, x);
    EXPECT_LT(on_host, 1e-3);
    EXPECT_NEAR(on_gpu, on_host, 0.5 * on_host);
    // All pairs, of which many have no tree.
    set_tolerance(trial.sum, 1e-6);
    trial.run(x);
    EXPECT_LE(error_of_charges(trial, cell, x), 1e-6);
  }
}

// The bits of one GPU on two; also of a slab, whose cell depends on the extent of the particles, of chosen
// i, with exclusions, and over all pairs.
TEST(PeriodicSumOnShim, HasTheSameBitsOnSeveralGpus) {
  constexpr std::array<Vector3, 3> kSlab{{{1, 0, 0}, {0.3, 0.9, 0}, {0, 0, 0}}};
  std::vector<std::vector<std::vector<double>>> found;
  for (const int count : {1, 3}) {
    CudaShim shim;
    shim.set_device_count(3);
    std::vector<std::shared_ptr<CudaDevice>> gpus;
    for (int k = 0; k < count; ++k)
      gpus.push_back(std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), k, "", ""));
    std::shared_ptr<KernelDevice> device = gpus.front();
    if (count > 1) device = std::make_shared<CudaGroup>(gpus, true);
    std::vector<std::vector<double>>& results = found.emplace_back();
    for (const auto& cell : {kSlanted, kSlab}) {
      std::mt19937_64 random(13);
      const std::vector<Vector3> x = random_places(150, kCube, random);
      PeriodicTrial trial(kCharges, Precision::Single, device);
      fill(trial, cell, x.size());
      const auto keep = [&] {
        results.push_back(trial.arrays["pot"]);
        results.push_back(trial.arrays["field"]);
      };
      set_tolerance(trial.sum, 1e-3, kNumbers);
      trial.run(x);
      ASSERT_EQ(trial.sum.statistics().far.order, 4);
      keep();
      trial.run(x, {.i_begin = 20, .i_count = 90});
      keep();
      std::vector<std::int64_t> first{0}, j;
      for (std::int64_t i = 0; i < 150; ++i) {
        j.insert(j.end(), {(i + 1) % 150, (i + 70) % 150});
        first.push_back(std::int64_t(j.size()));
      }
      trial.sum.set_exclusions(150, first.data(), std::int64_t(j.size()), j.data());
      trial.run(x);
      keep();
      set_tolerance(trial.sum, 1e-6);
      trial.run(x);
      keep();
    }
  }
  EXPECT_EQ(found[1], found[0]);
}

class PeriodicSumOnGpu : public OnGpu {};

TEST_F(PeriodicSumOnGpu, KeepsTheTolerance) {
  std::mt19937_64 random(11);
  PeriodicTrial trial(kCharges, Precision::Single,
                      std::make_shared<CudaDevice>(cuda_driver(), make_nvrtc(), 0, "", ""));
  for (const auto& cell : {kCube, kSlanted})
    for (const std::size_t count : {300, 20'000}) {
      std::vector<Vector3> x = random_places(count, cell, random);
      fill(trial, cell, count);
      for (const double tolerance : {1e-3, 1e-5, 1e-7}) {
        SCOPED_TRACE(fmt::format("{} particles, tolerance {}", count, tolerance));
        set_tolerance(trial.sum, tolerance);
        trial.run(x);
        if (count < 1000) {
          EXPECT_LE(error_of_charges(trial, cell, x), tolerance);
        } else {
          EXPECT_LE(trial.sum.statistics().far.error, tolerance);
          EXPECT_GT(trial.sum.statistics().far.sampled, 0);
        }
      }
    }
}

}  // namespace
}  // namespace nbcc::test
