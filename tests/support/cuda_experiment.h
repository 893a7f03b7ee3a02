// A pipeline with every kind of output, on the shim's GPU, with each of its arrays on the host or on the device as a
// test wants it; and what its sums should be. The entry points are CudaExperiment and expected_sums().
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/cuda/program/cuda_device.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/device_array.h"

namespace nbcc::test {

// Without `self` no i is any j; with it, pairs of equal index are skipped.
std::shared_ptr<const Kernel> load_experiment(KernelDevice& device, bool self = false);

// Field -> numbers, component by component within a particle. `near` holds whole numbers.
using Numbers = std::map<std::string, std::vector<double>>;

Numbers random_experiment(std::int64_t ni, std::int64_t nj, std::uint64_t seed = 1);
// In double precision.
Numbers expected_sums(const Numbers& inputs, bool self = false, std::int64_t i_offset = 0, std::int64_t j_offset = 0);

class CudaExperiment {
 public:
  // Arrays of double (near: int64), an array of structures for each field. Outputs begin as -7.
  CudaExperiment(const CudaGpu& gpu, const std::shared_ptr<const Kernel>& kernel, const Numbers& inputs,
                 std::set<std::string> on_host = {});

  SumState sum;
  std::int64_t ni = 0, nj = 0;
  void* data(const std::string& field) const;
  ArrayView view(const std::string& field) const;
  // Binds a field again to other numbers in the same place.
  void put(const std::string& field, const std::vector<double>& numbers);
  std::vector<double> get(const std::string& field) const;
  Numbers outputs() const;

 private:
  struct Array {
    std::vector<std::int64_t> host;  // 8 bytes each, of either type
    std::unique_ptr<DeviceArray> device;
    ArrayView view;
  };
  std::map<std::string, Array> arrays_;
};

inline const std::set<std::string> kAllFields{"xi", "hi", "xj", "mj", "acc", "pot", "near", "far"};

// Expects each output to be within `tolerance` (default: for single precision) of the largest of its expected numbers.
inline void expect_close(const Numbers& got, const Numbers& expected, double tolerance = 2e-6) {
  for (const auto& [field, numbers] : expected) {
    ASSERT_EQ(got.at(field).size(), numbers.size());
    double scale = 1;
    for (const double number : numbers) scale = std::max(scale, std::isfinite(number) ? std::fabs(number) : 0);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      if (got.at(field)[k] == numbers[k]) continue;
      ASSERT_NEAR(got.at(field)[k], numbers[k], field == "near" ? 0 : tolerance * scale) << field << " at " << k;
    }
  }
}

}  // namespace nbcc::test
