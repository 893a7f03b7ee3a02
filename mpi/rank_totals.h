// Totals over the ranks. The run of a rank reduces the values of the i on that rank; the ranks exchange these totals,
// and every rank combines them in the order of the ranks and stores the same numbers:
//
//   values of i --nbcc_sum_run--> own total --store()--> total of all ranks, in the caller's array
//
// Tested by tests/mpi/totals_test.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/ranks.h"
#include "runtime/api/nbcc.hpp"

namespace nbcc {

// The totals of a sum. During a run memory of this object is bound in place of the caller's arrays, which the
// destructor binds again.
class RankTotals {
 public:
  explicit RankTotals(nbcc_sum* sum);
  ~RankTotals();
  RankTotals(const RankTotals&) = delete;
  RankTotals& operator=(const RankTotals&) = delete;

  // Reads the caller's arrays. Throws Error.
  void read_bindings();
  // Numbers that must be the same on all ranks.
  std::vector<std::int64_t> shapes() const;
  // [total]: 1 if the caller has bound an array, 0 if the total is ignored.
  std::vector<std::int64_t> wanted() const;
  // Binds this object's memory for the totals that any rank wants, whether this rank wants them or not. Throws Error.
  void bind_own(const std::vector<std::int64_t>& wanted_anywhere);
  // Collective. Combines the totals of all ranks and stores them in the caller's array. With `accumulate` they are
  // combined with the stored values, once. Throws Error (on all ranks or on none).
  void store(const Ranks& ranks, nbcc_device* device, bool accumulate) const;

 private:
  struct Total {
    std::string name;
    int components = 1;
    bool is_integral = false;  // own values are 64-bit integers, otherwise doubles
    nbcc_reduction reduction = NBCC_SUM;
    nbcc_view array{};              // the caller's; null: ignored
    std::vector<std::int64_t> own;  // [component], the bits of the values; empty: no rank wants them
  };
  nbcc_sum* const sum_;
  std::vector<Total> totals_;
  bool is_rebound_ = false;
};

}  // namespace nbcc
