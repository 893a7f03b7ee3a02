// Tests whether one strided array may be written while another is still read. Entry points: bytes_of(), independent(),
// disjoint(), and find_overlap() for all arrays of a kernel. Compares addresses; reads no data.
#include "runtime/sum/request/overlap.h"

#include <algorithm>
#include <cstdint>

namespace nbcc {
namespace {

// The bytes of particles [first, last].
ByteRange extent(const ArrayView& view, int components, std::int64_t first, std::int64_t last) {
  const __int128 base = reinterpret_cast<std::uintptr_t>(view.data);
  const __int128 a = __int128(first) * view.stride, b = __int128(last) * view.stride;
  const __int128 c = __int128(components - 1) * view.component_stride;
  return {base + std::min(a, b) + std::min<__int128>(c, 0),
          base + std::max(a, b) + std::max<__int128>(c, 0) + size_of(view.element)};
}

bool apart(const ByteRange& a, const ByteRange& b) { return a.high <= b.low || b.high <= a.low; }

// True if all bytes of one particle, in both arrays together, span at most the stride to the next particle.
bool within_a_stride(const ArrayView& input, int inputs, const ArrayView& output, int outputs) {
  if (input.stride != output.stride) return false;
  const ByteRange in = extent(input, inputs, 0, 0), out = extent(output, outputs, 0, 0);
  const __int128 stride = input.stride < 0 ? -__int128(input.stride) : __int128(input.stride);
  return std::max(in.high, out.high) - std::min(in.low, out.low) <= stride;
}

bool lie_apart(const ArrayView& input, int inputs, const ArrayView& output, int outputs) {
  return apart(bytes_of(input, inputs), bytes_of(output, outputs));
}

}  // namespace

ByteRange bytes_of(const ArrayView& view, int components) { return extent(view, components, 0, view.count - 1); }

bool independent(const ArrayView& input, int inputs, const ArrayView& output, int outputs) {
  return lie_apart(input, inputs, output, outputs) || within_a_stride(input, inputs, output, outputs);
}

bool disjoint(const ArrayView& input, int inputs, const ArrayView& output, int outputs) {
  if (lie_apart(input, inputs, output, outputs)) return true;
  return within_a_stride(input, inputs, output, outputs) &&
         apart(extent(input, inputs, 0, 0), extent(output, outputs, 0, 0));
}

std::optional<Overlap> find_overlap(const std::vector<FieldLayout>& fields, std::span<const ArrayView> views,
                                    IsApart test,
                                    const std::function<bool(std::size_t input, std::size_t output)>& counts) {
  const auto is_bound = [&](std::size_t f) { return views[f].data && views[f].count > 0; };
  for (std::size_t out = 0; out < fields.size(); ++out) {
    if (fields[out].role != Role::Output || !is_bound(out)) continue;
    for (std::size_t in = 0; in < fields.size(); ++in) {
      if (fields[in].role == Role::Output || fields[in].role == Role::Param || !is_bound(in)) continue;
      if (counts(in, out) && !test(views[in], fields[in].numbers(), views[out], fields[out].numbers()))
        return Overlap{in, out};
    }
  }
  return {};
}

}  // namespace nbcc
