// What a CPU kernel accumulates for some i-particles: for each output component a row of doubles, or of 64-bit whole
// numbers in their place, and where a reduction keeps an index a row of indices.
// Tested by tests/unit/sum_test.cpp.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/sum/pack.h"

namespace nbcc {

class Accumulators {
 public:
  // Room for so many i-particles; the contents are lost. `source` must outlive this object.
  void reserve(const KernelSource& source, std::int64_t positions);
  // Both over positions [begin, end).
  void reset(std::int64_t begin, std::int64_t end);
  void combine(const Accumulators& partial, std::int64_t begin, std::int64_t end) {
    combine(partial, begin, begin, end);
  }
  // The same of another's positions from `from` on, which stand at [begin, end) here; and taken over as they are.
  void combine(const Accumulators& partial, std::int64_t from, std::int64_t begin, std::int64_t end);
  void copy(const Accumulators& other, std::int64_t from, std::int64_t begin, std::int64_t end);

  // By output component; an index row is null where none is kept.
  double* const* values() const { return values_.data(); }
  double* const* indices() const { return indices_.data(); }

 private:
  void combine_weighted(const Accumulators& partial, std::size_t c, std::int64_t from, std::int64_t begin,
                        std::int64_t end);
  void combine_choice(const Choice& choice, const Accumulators& partial, std::int64_t from, std::int64_t at);

  const KernelSource* source_ = nullptr;
  std::vector<Choice> choices_;
  std::vector<bool> of_choice_;  // by output component: a part of one of these
  AlignedBuffer memory_;
  std::vector<double*> values_, indices_;
};

}  // namespace nbcc
