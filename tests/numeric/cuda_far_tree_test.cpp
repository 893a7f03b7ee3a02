// The tree of a far field and its radix sort on the first GPU of the machine, against the host, at sizes at which many
// blocks run at a time. Times of a build and of a sort are properties of the tests' reports.
#include "runtime/cuda/far/cuda_far_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/cuda/far/cuda_radix_sort.h"
#include "tests/support/expect_far_tree.h"
#include "tests/support/far_device.h"
#include "tests/support/on_gpu.h"

namespace nbcc::test {
namespace {

class FarTreeOnGpu : public OnGpu {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    loaded_ = load_experiment(*device_);
    sort_ = std::make_unique<CudaRadixSort>(kernel());
  }
  const CudaKernel& kernel() const { return static_cast<const CudaKernel&>(*loaded_); }

  // The shortest of several times, in milliseconds.
  void record(const std::string& name, const std::function<void()>& work) {
    double shortest = 1e300;
    for (int k = 0; k < 5; ++k) {
      const auto begin = std::chrono::steady_clock::now();
      work();
      const CudaContextGuard guard(gpu());
      gpu().synchronize(nullptr);
      shortest = std::min(shortest,
                          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    RecordProperty(name, std::to_string(shortest));
  }

  // Spheres of Plummer: a dense core and particles far away.
  std::vector<double> plummer(std::int64_t count, int axes) {
    std::vector<double> positions;
    for (std::int64_t k = 0; k < count; ++k) {
      const double mass = 0.999 * uniform_(random_), radius = 1 / std::sqrt(std::pow(mass + 1e-9, -2.0 / 3) - 1);
      const double z = 2 * uniform_(random_) - 1, angle = 6.283185307179586 * uniform_(random_);
      const double across = std::sqrt(1 - z * z);
      const double point[] = {radius * across * std::cos(angle), radius * across * std::sin(angle), radius * z};
      positions.insert(positions.end(), point, point + axes);
    }
    return positions;
  }

  std::shared_ptr<const Kernel> loaded_;
  std::unique_ptr<CudaRadixSort> sort_;
  std::mt19937_64 random_{11};
  std::uniform_real_distribution<double> uniform_{0, 1};
};

TEST_F(FarTreeOnGpu, SortsAsTheHost) {
  for (const std::size_t count : {5000, 300'001, 4'000'000}) {
    for (const std::uint64_t mask : {~0ULL, 0xff000000000000ffULL}) {
      std::vector<std::uint64_t> keys(count);
      for (std::uint64_t& key : keys) key = random_() & mask;
      std::vector<std::uint32_t> numbers(count), expected(count);
      std::iota(numbers.begin(), numbers.end(), 0U);
      expected = numbers;
      std::ranges::stable_sort(expected, {}, [&](std::uint32_t k) { return keys[k]; });
      const auto device_keys = send(gpu(), keys);
      const auto device_numbers = send(gpu(), numbers);
      for (int repetition = 0; repetition < 5; ++repetition) {
        device_keys->put(keys.data(), keys.size() * sizeof keys[0]);
        device_numbers->put(numbers.data(), numbers.size() * sizeof numbers[0]);
        sort_->sort(address_of(device_keys), address_of(device_numbers), std::int64_t(count), 0, 64, nullptr);
        ASSERT_TRUE(fetch<std::uint32_t>(gpu(), address_of(device_numbers), count) == expected) << count;
        device_keys->put(keys.data(), keys.size() * sizeof keys[0]);
        sort_->sort(address_of(device_keys), 0, std::int64_t(count), 0, 64, nullptr);
        const auto sorted = fetch<std::uint64_t>(gpu(), address_of(device_keys), count);
        ASSERT_TRUE(std::ranges::is_sorted(sorted)) << count;
        ASSERT_EQ(std::reduce(sorted.begin(), sorted.end()), std::reduce(keys.begin(), keys.end()));
      }
    }
  }
  for (const std::size_t count : {1'000'000, 10'000'000}) {
    std::vector<std::uint64_t> keys(count);
    for (std::uint64_t& key : keys) key = random_() >> 1;
    const auto device_keys = send(gpu(), keys);
    const auto device_numbers = send(gpu(), std::vector<std::uint32_t>(count));
    record("sort_" + std::to_string(count), [&] {
      sort_->sort(address_of(device_keys), address_of(device_numbers), std::int64_t(count), 0, 63, nullptr);
    });
  }
}

TEST_F(FarTreeOnGpu, IsTheTreeOfTheHost) {
  for (const int axes : {1, 2, 3}) {
    CudaFarTree tree(kernel(), axes, *sort_);
    for (const std::int64_t count : {1000, 300'001, 1'000'000}) {
      SCOPED_TRACE(std::to_string(axes) + " axes, " + std::to_string(count) + " particles");
      const std::vector<double> positions = plummer(count, axes);
      const auto on_device = send(gpu(), positions);
      FarTree expected;
      expected.build(positions, axes, {}, 128, in_order);
      for (int repetition = 0; repetition < 3; ++repetition) {
        tree.build(address_of(on_device), 0, count, 128, nullptr);
        expect_far_tree(gpu(), tree, expected);
        if (HasFailure()) return;
      }
      expected.split_again(20, in_order);
      tree.split_again(20, nullptr);
      expect_far_tree(gpu(), tree, expected);
      if (HasFailure()) return;
    }
  }
  CudaFarTree tree(kernel(), 3, *sort_);
  for (const std::int64_t count : {1'000'000, 10'000'000}) {
    const auto on_device = send(gpu(), plummer(count, 3));
    record("build_" + std::to_string(count), [&] { tree.build(address_of(on_device), 0, count, 128, nullptr); });
    record("split_" + std::to_string(count), [&] { tree.split_again(128, nullptr); });
  }
}

}  // namespace
}  // namespace nbcc::test
