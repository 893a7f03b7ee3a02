// Whether the caller's arrays share bytes, so that storing results could change inputs that are still to be read.
// Tested by tests/unit/overlap_test.cpp.
#pragma once
#include "runtime/sum/pack.h"

namespace nbcc {

// The bytes of all particles of a field, all components: from the lowest to behind the highest. Wide enough for any
// strides.
struct ByteRange {
  __int128 low = 0, high = 0;
};
ByteRange bytes_of(const ArrayView& view, int components);

// True when writing an output of some particles cannot change an input of the others: the arrays lie apart, or the two
// are parts of one array of structs (or the same array), so that each particle's fields lie within its own stride.
bool independent(const ArrayView& input, int inputs, const ArrayView& output, int outputs);

// True when no byte belongs to both. May be false for arrays that interleave in an unusual way.
bool disjoint(const ArrayView& input, int inputs, const ArrayView& output, int outputs);

}  // namespace nbcc
