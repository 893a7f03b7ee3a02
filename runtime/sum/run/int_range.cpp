// Entry point: check_int_range(). Only checks; pack.cpp converts.
#include "runtime/sum/run/int_range.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

using Int = std::numeric_limits<std::int32_t>;

// The particles that a run reads: a range, or, if `list` is not null, its `count` indices.
struct Chosen {
  std::int64_t first = 0, count = 0;
  const std::int64_t* list = nullptr;
};

std::int64_t value_at(const ArrayView& view, int component, std::int64_t particle) {
  std::int64_t value = 0;
  std::memcpy(&value,
              static_cast<const std::byte*>(view.data) + particle * view.stride + component * view.component_stride,
              sizeof value);
  return value;
}

void check(const ArrayView& view, int components, const Chosen& chosen, const std::string& quoted) {
  for (int c = 0; c < components; ++c) {
    std::int64_t least = 0, greatest = 0;
    const auto particle = [&](std::int64_t k) { return chosen.list ? chosen.list[k] : chosen.first + k; };
    for (std::int64_t k = 0; k < chosen.count; ++k) {
      const std::int64_t value = value_at(view, c, particle(k));
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
    if (least >= Int::min() && greatest <= Int::max()) continue;
    for (std::int64_t k = 0; k < chosen.count; ++k) {
      const std::int64_t value = value_at(view, c, particle(k));
      if (value >= Int::min() && value <= Int::max()) continue;
      throw UsageError(fmt::format("{}: the int64 array has {} for particle {}, but an int is from {} to {}", quoted,
                                   value, particle(k), Int::min(), Int::max()));
    }
  }
}

}  // namespace

void check_int_range(const KernelSource& source, const SumRequest& request, const Summation& summation,
                     const std::function<std::string(std::size_t)>& quoted) {
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    const FieldLayout& field = source.fields[f];
    const ArrayView& view = request.views[f];
    const bool is_input = field.role == Role::InputI || field.role == Role::InputJ || field.role == Role::InputPair;
    if (!is_input || view.element != Element::Int64 || view.count == 0 || field.type != Type::Int) continue;
    if (field.role == Role::InputJ && request.reuse != JReuse::None) continue;
    const auto can_read = [&](const void* data) { return summation.can_read(static_cast<const std::int64_t*>(data)); };
    if (!can_read(view.data)) continue;
    Chosen chosen{0, view.count};
    if (field.role == Role::InputI && !request.i_list) chosen = {request.i_begin, request.i_count};
    if (field.role == Role::InputI && request.i_list && can_read(request.i_list))
      chosen = {0, request.i_count, request.i_list};
    check(view, field.components(), chosen, quoted(f));
  }
}

}  // namespace nbcc
