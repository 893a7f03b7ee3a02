// The accumulators of a CPU kernel: for each output component a row [i] of doubles or 64-bit integers, and for
// reductions that keep an index a second row of indices (stored as doubles).
// Tested by tests/unit/runtime/sum/run/sum_test.cpp.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/sum/request/pack.h"

namespace nbcc {

class Accumulators {
 public:
  // Allocates rows for `positions` i-particles, of output components from `first` on; the contents are lost. `source`
  // must outlive this object.
  void reserve(const KernelSource& source, std::int64_t positions, std::size_t first = 0);
  // reset() sets positions [begin, end) to the identity of their reduction; combine() combines them with `partial`.
  void reset(std::int64_t begin, std::int64_t end);
  void combine(const Accumulators& partial, std::int64_t begin, std::int64_t end) {
    combine(partial, begin, begin, end);
  }
  // Combine, or copy, positions of another object from `from` on with, or to, positions [begin, end) of this one. Only
  // components that `partial` has rows for are combined.
  void combine(const Accumulators& partial, std::int64_t from, std::int64_t begin, std::int64_t end);
  void copy(const Accumulators& other, std::int64_t from, std::int64_t begin, std::int64_t end);

  // [output component][i]; null: no row. The index row is null if the reduction keeps no index.
  double* const* values() const { return values_.data(); }
  double* const* indices() const { return indices_.data(); }

 private:
  void combine_weighted(const Accumulators& partial, std::size_t c, std::int64_t from, std::int64_t begin,
                        std::int64_t end);
  void combine_choice(const Choice& choice, const Accumulators& partial, std::int64_t from, std::int64_t at);

  const KernelSource* source_ = nullptr;
  std::vector<Choice> choices_;
  std::vector<bool> of_choice_;  // [output component]: true if it belongs to one of choices_
  AlignedBuffer memory_;
  std::vector<double*> values_, indices_;
};

}  // namespace nbcc
