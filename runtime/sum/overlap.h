// Whether the caller's arrays share bytes, so that storing results could change inputs that are still to be read.
// Tested by tests/unit/overlap_test.cpp.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

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

// The first output, and the first input that is not independent of (or disjoint from) it, by index in `fields`. Only
// bound arrays are tested, and only pairs for which `counts` is true.
struct Overlap {
  std::size_t input = 0, output = 0;
};
using IsApart = bool (*)(const ArrayView& input, int inputs, const ArrayView& output, int outputs);
std::optional<Overlap> find_overlap(
    const std::vector<FieldLayout>& fields, std::span<const ArrayView> views, IsApart test,
    const std::function<bool(std::size_t input, std::size_t output)>& counts = [](auto, auto) { return true; });

}  // namespace nbcc
