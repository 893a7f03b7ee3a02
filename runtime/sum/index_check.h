// The ranges of the numbers that particles add to the indices of tables -> nothing, or the error that names the index,
// the particles, the value and the table. Tested by tests/numeric/table_index_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// An index that leads out of its table: what each side adds to it, and the particles (or listed pair) that do, by
// i_index and j_index: their positions in the caller's arrays, and the offset of their side. -1: the side adds nothing,
// or a param alone decides.
struct IndexBeyond {
  std::size_t check = 0;  // among IndexChecks::checks
  std::array<std::int64_t, kIndexSides> value{}, particle{-1, -1, -1};
};
[[noreturn]] void throw_index_beyond(const KernelSource& source, const IndexBeyond& beyond);

// The ranges of each side, by their numbers.
class IndexRanges {
 public:
  explicit IndexRanges(const IndexChecks& checks);
  std::vector<nbcc_index_range>& of(std::size_t side) { return ranges_[side]; }
  void reset(std::size_t side);
  // `number_of`: of the particle at a position of the chunk.
  void widen(std::size_t side, std::span<const nbcc_index_range> chunk,
             const std::function<std::int64_t(std::int64_t)>& number_of);
  // Throws UsageError. Checks that depend on params are left out where groups have their own.
  void check(const KernelSource& source, bool params_by_group) const;

 private:
  std::array<std::vector<nbcc_index_range>, kIndexSides> ranges_;
};

}  // namespace nbcc
