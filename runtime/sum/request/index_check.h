// Checks table indices. An index is a sum of one number of each side (i, j, listed pair); from the ranges of these
// numbers follows whether an index can be outside of its table. The error names the index, the particles, the value and
// the table. Tested by tests/numeric/table_index_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// An index outside of its table. By side: the number that the side adds to the index, and the particle (or listed pair)
// that adds it, as i_index or j_index counts it: index in the caller's arrays plus the offset of the side. Particle -1:
// the side adds nothing, or only params do.
struct IndexOutOfRange {
  std::size_t check = 0;  // among IndexChecks::checks
  std::array<std::int64_t, kIndexSides> value{}, particle{-1, -1, -1};
};
[[noreturn]] void throw_index_out_of_range(const KernelSource& source, const IndexOutOfRange& beyond);

// The ranges (least and greatest number, with their particles) of each side, indexed by IndexCheck::Part::range.
class IndexRanges {
 public:
  explicit IndexRanges(const IndexChecks& checks);
  std::vector<nbcc_index_range>& of(std::size_t side) { return ranges_[side]; }
  void reset(std::size_t side);
  // Merges the ranges of a chunk of particles. `number_of`: position in the chunk -> number of the particle.
  void widen(std::size_t side, std::span<const nbcc_index_range> chunk,
             const std::function<std::int64_t(std::int64_t)>& number_of);
  // Throws UsageError. `params_by_group`: groups have params of their own; checks that depend on params are skipped.
  void check(const KernelSource& source, bool params_by_group) const;

 private:
  std::array<std::vector<nbcc_index_range>, kIndexSides> ranges_;
};

}  // namespace nbcc
