// Tests whether the caller's arrays overlap in memory, so that storing results could change inputs not yet read.
// Tested by tests/unit/runtime/sum/request/overlap_test.cpp.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "runtime/sum/request/pack.h"

namespace nbcc {

// The address range [low, high) of all particles and components of a field. 128 bits hold it for any strides.
struct ByteRange {
  __int128 low = 0, high = 0;
};
ByteRange bytes_of(const ArrayView& view, int components);

// True if writing an output of one particle cannot change an input of another particle: the address ranges do not
// overlap, or both are fields of one array of structs (or the same array), so that the fields of each particle lie
// within its own stride.
bool independent(const ArrayView& input, int inputs, const ArrayView& output, int outputs);

// True if no byte belongs to both arrays. May return false for disjoint arrays that interleave in an unusual way.
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
