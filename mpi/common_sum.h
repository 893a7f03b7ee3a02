// Checks that all ranks of a run sum with equal statements of the pipeline and with equal params. Entry point:
// CommonSum::require_same().
// Tested by tests/mpi/common_sum_test.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/ranks.h"
#include "runtime/api/nbcc.hpp"

namespace nbcc {

class CommonSum {
 public:
  explicit CommonSum(nbcc_sum* sum);
  // Numbers of this rank: number of params, digest of the pipeline, digest of the params.
  static constexpr std::size_t kNumbers = 3;
  std::vector<std::int64_t> numbers() const;
  // Collective. all: numbers() of all ranks, rank 0 first. Throws Error, on all ranks or on none, that names the rank,
  // and of params the first that differs and both values. A param that is not set on a rank, or has a value for each
  // batch, is not compared.
  void require_same(const Ranks& ranks, const std::vector<std::int64_t>& all) const;

 private:
  std::vector<double> values_of(std::size_t param) const;
  void require_same_params(const Ranks& ranks) const;
  [[noreturn]] void refuse_param(const Ranks& ranks, std::size_t param, int first, int other) const;

  nbcc_sum* const sum_;
  std::vector<std::string> params_;  // names
};

}  // namespace nbcc
