// The radix sort on the simulated GPU against std::stable_sort.
#include "runtime/cuda/far/cuda_radix_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "runtime/error.h"
#include "templates/cuda/far/cuda_far_data.h"
#include "tests/support/far_device.h"

namespace nbcc::test {
namespace {

using Keys = std::vector<std::uint64_t>;
using Payloads = std::vector<std::uint32_t>;

class CudaRadixSortTest : public testing::Test {
 protected:
  // Sorts on the GPU and on the host.
  void expect_sorted(const Keys& keys, bool with_payloads, int first_bit, int last_bit) {
    Payloads numbers(keys.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    const auto device_keys = send(here_.gpu(), keys);
    const auto device_numbers = send(here_.gpu(), numbers);
    const CudaRadixSort::Sorted sorted =
        sort_.sort(address_of(device_keys), with_payloads ? address_of(device_numbers) : 0, std::int64_t(keys.size()),
                   first_bit, last_bit, nullptr);
    const std::uint64_t mask = last_bit - first_bit == 64 ? ~0ULL : (1ULL << (last_bit - first_bit)) - 1;
    std::ranges::stable_sort(numbers, {}, [&](std::uint32_t k) { return keys[k] >> first_bit & mask; });
    Keys expected;
    for (const std::uint32_t k : numbers) expected.push_back(keys[k]);
    EXPECT_EQ(fetch<std::uint64_t>(here_.gpu(), sorted.keys, keys.size()), expected);
    if (with_payloads) {
      EXPECT_EQ(fetch<std::uint32_t>(here_.gpu(), sorted.payloads, keys.size()), numbers);
    }
    EXPECT_EQ(sorted.keys == address_of(device_keys), (last_bit - first_bit + 7) / 8 % 2 == 0 || keys.size() < 2);
  }
  Keys random_keys(std::size_t count, std::uint64_t mask) {
    Keys keys(count);
    for (std::uint64_t& key : keys) key = random_() & mask;
    return keys;
  }

  FarDevice here_;
  CudaRadixSort sort_{here_.kernel()};
  std::mt19937_64 random_{5};
};

TEST_F(CudaRadixSortTest, SortsAllSizes) {
  here_.shim.set_block_order({ShimOrder::Kind::Shuffled, 3});
  constexpr int kTile = far_data::kRadixTile;
  for (const std::size_t count : {0, 1, 2, 33, kTile - 1, kTile, kTile + 1, 3 * kTile - 200}) {
    SCOPED_TRACE(count);
    expect_sorted(random_keys(count, ~0ULL), count % 2 == 0, 0, count < 5000 ? 64 : 24);
  }
}

TEST_F(CudaRadixSortTest, SortsBySomeBitsAndKeepsTheOrderOfEqualKeys) {
  here_.shim.set_thread_order({ShimOrder::Kind::Backward});
  for (const auto& [first, last] : {std::pair{0, 9}, {32, 40}, {32, 51}, {5, 6}, {60, 64}, {7, 7}}) {
    SCOPED_TRACE(first);
    expect_sorted(random_keys(5000, ~0ULL), true, first, last);
    expect_sorted(random_keys(5000, ~0ULL), false, first, last);
  }
  expect_sorted(Keys(6000, 0x7fffffffffffffff), true, 0, 63);
  expect_sorted(random_keys(6000, 0x0300000000000001), true, 0, 63);
}

TEST_F(CudaRadixSortTest, WaitsForNothingAndClearsItsCountersOnce) {
  here_.shim.set_lazy(true);
  const Keys keys = random_keys(10000, ~0ULL);
  Keys expected = keys;
  std::ranges::sort(expected);
  const auto on_device = send(here_.gpu(), keys);
  sort_.sort(address_of(on_device), 0, 10000, 0, 64, nullptr);
  EXPECT_EQ(fetch<std::uint64_t>(here_.gpu(), address_of(on_device), keys.size()), expected);
  here_.shim.forget_calls();
  on_device->put(keys.data(), keys.size() * sizeof keys[0]);
  here_.shim.forget_calls();
  sort_.sort(address_of(on_device), 0, 10000, 0, 64, nullptr);
  for (const char* function : {"memset_d32_async", "stream_synchronize", "mem_alloc"})
    EXPECT_EQ(here_.shim.calls(function), 0) << function;
  EXPECT_EQ(here_.shim.calls("launch_kernel_ex"), 2);
  EXPECT_EQ(fetch<std::uint64_t>(here_.gpu(), address_of(on_device), keys.size()), expected);
}

TEST_F(CudaRadixSortTest, SortsAfterALaunchThatFailed) {
  const Keys keys = random_keys(5000, ~0ULL);
  const auto on_device = send(here_.gpu(), keys);
  here_.shim.fail("launch_kernel_ex", 2, 719);
  EXPECT_THROW(sort_.sort(address_of(on_device), 0, 5000, 0, 64, nullptr), DeviceError);
  expect_sorted(keys, true, 0, 64);
}

}  // namespace
}  // namespace nbcc::test
