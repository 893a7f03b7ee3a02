// Packs the caller's strided arrays into columns (pack), and stores sums in strided arrays (unpack). Counts and indices
// have been checked before. The caller chooses the particles of each block.
#include "runtime/sum/request/pack.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

#include "fmt/format.h"
#include "runtime/sum/request/convert.h"
#include "runtime/sum/request/small_floats.h"

namespace nbcc {
namespace {

// Calls use.template operator()<T>() with the C++ type of an element.
template <typename Use>
decltype(auto) with_type(Element element, Use use) {
  switch (element) {
    case Element::Float:
      return use.template operator()<float>();
    case Element::Double:
      return use.template operator()<double>();
    case Element::Int32:
      return use.template operator()<std::int32_t>();
    case Element::Half:
      return use.template operator()<Half>();
    case Element::BFloat16:
      return use.template operator()<BFloat16>();
    case Element::Int64:
      break;
  }
  return use.template operator()<std::int64_t>();
}

template <typename T>
constexpr bool kIsSmall = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
// What is computed with instead of a number of an array.
template <typename T>
using Number = std::conditional_t<kIsSmall<T>, float, T>;

template <Column::Part part, typename To, typename From>
To convert_part(From value) {
  if constexpr (part == Column::Part::Whole) {
    return convert<To>(value);
  } else {
    const float high = float(value);
    if constexpr (part == Column::Part::High) return To(high);
    return std::isfinite(high) ? To(double(value) - double(high)) : To(0);
  }
}

// Arrays of packed structs are not aligned to their elements.
template <typename T>
Number<T> load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::byte* component_of(const ArrayView& view, int component) {
  return static_cast<std::byte*>(view.data) + component * view.component_stride;
}

// Loops over indexed, contiguous and strided elements. The contiguous loop is separate because only its loads are
// vectorized. Count and stride are copied to locals, because the compiler must assume that stores could change them.
template <typename From, typename Take>
void for_each_picked(const ArrayView& view, int component, const Picked& picked, Take take) {
  std::byte* const base = component_of(view, component);
  const std::int64_t count = picked.count, stride = view.stride;
  if (picked.list) {
    for (std::int64_t k = 0; k < count; ++k) take(k, base + picked.list[k] * stride);
  } else if (stride == std::int64_t(sizeof(From))) {
    std::byte* const from = base + picked.first * std::int64_t(sizeof(From));
    for (std::int64_t k = 0; k < count; ++k) take(k, from + k * std::int64_t(sizeof(From)));
  } else {
    std::byte* const from = base + picked.first * stride;
    for (std::int64_t k = 0; k < count; ++k) take(k, from + k * stride);
  }
}

template <Column::Part part, typename To, typename From>
void pack_as(const ArrayView& view, int component, const Picked& picked, To* to) {
  for_each_picked<From>(view, component, picked, [to](std::int64_t k, const std::byte* from) {
    to[k] = convert_part<part, To>(load<From>(from));
  });
}

template <typename To>
void store(std::byte* to, To value) {
  std::memcpy(to, &value, sizeof value);
}
template <typename T, typename Value>
T stored(Value value) {
  if constexpr (kIsSmall<T>)
    return T(double(value));
  else
    return rounded<T>(value);
}
template <typename T, typename Value>
T with_old(Reduction reduction, Number<T> old, Value value) {
  if constexpr (kIsSmall<T>)
    return T(combined(reduction, double(old), double(value)));
  else
    return accumulated(reduction, old, value);
}

}  // namespace

void AlignedBuffer::Free::operator()(std::byte* p) const { std::free(p); }

void AlignedBuffer::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  if (bytes > std::size_t(std::numeric_limits<std::ptrdiff_t>::max()) - 64) throw std::bad_alloc();
  // Free the old block first, because memory may not suffice for both.
  memory_.reset();
  bytes_ = 0;
  const std::size_t rounded = (bytes + 63) / 64 * 64;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
  if (!memory_) throw std::bad_alloc();
  bytes_ = rounded;
}

PackedSide::PackedSide(const KernelSource& source, Role side, std::span<const int> only)
    : columns_(side == Role::InputI   ? source.columns.i
               : side == Role::InputJ ? source.columns.j
                                      : source.columns.of_pair) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].part == Column::Part::Derived) continue;
    if (!only.empty() && std::ranges::find(only, int(c)) == only.end()) continue;
    const int wanted = columns_[c].component;
    const auto field = std::ranges::find_if(source.fields, [&](const FieldLayout& f) {
      return f.role == side && wanted >= f.first && wanted < f.first + f.components();
    });
    if (field == source.fields.end()) {
      throw std::logic_error(
          fmt::format("kernel of '{}': no field has the packed component {}", source.pipeline, wanted));
    }
    packed_.push_back({c, std::size_t(field - source.fields.begin()), wanted - field->first});
  }
}

void PackedSide::reserve(std::int64_t capacity) {
  // Columns that begin at the same offset within a page map to the same sets of an 8-way L1 cache and evict each other.
  // A stagger of ten cache lines (640 bytes) leaves room for a tile of 160 floats of each column.
  constexpr std::int64_t page = 4096, stagger = 640;
  if (capacity > std::int64_t(1) << 56) throw std::bad_alloc();
  std::vector<std::int64_t> offsets;
  std::int64_t bytes = 0;
  for (const Column& column : columns_) {
    offsets.push_back(bytes);
    if (__builtin_add_overflow(bytes, round_up(capacity * size_of(column.element), page) + stagger, &bytes))
      throw std::bad_alloc();
  }
  memory_.reserve(std::size_t(bytes));
  pointers_.clear();
  for (const std::int64_t offset : offsets) pointers_.push_back(memory_.data() + offset);
}

void* PackedSide::at(const Packed& packed, std::int64_t position) const {
  return static_cast<std::byte*>(pointers_[packed.column]) + position * size_of(columns_[packed.column].element);
}

void PackedSide::pack(std::span<const ArrayView> views, const Picked& picked, std::int64_t position) const {
  for (const Packed& p : packed_) nbcc::pack(views[p.field], p.component, picked, columns_[p.column], at(p, position));
}

void PackedSide::pack_relative(std::span<const ArrayView> views, const Picked& picked, std::int64_t position,
                               std::span<const double> origins) const {
  for (const Packed& p : packed_) {
    const Column& column = columns_[p.column];
    if (std::size_t(column.component) >= origins.size()) continue;
    if (views[p.field].element != Element::Double || column.element != Element::Float ||
        column.part != Column::Part::Whole)
      throw std::logic_error("relative inputs are doubles that are packed as floats");
    const double origin = origins[std::size_t(column.component)];
    const auto to = static_cast<float*>(at(p, position));
    for_each_picked<double>(views[p.field], p.component, picked, [to, origin](std::int64_t k, const std::byte* from) {
      to[k] = float(load<double>(from) - origin);
    });
  }
}

std::vector<double> PackedSide::inputs_of(std::span<const ArrayView> views, std::int64_t particle, int count) const {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (const Packed& p : packed_) {
    const int component = columns_[p.column].component;
    if (component < count)
      values[std::size_t(component)] =
          load<double>(component_of(views[p.field], p.component) + particle * views[p.field].stride);
  }
  return values;
}

void PackedSide::gather(const PackedSide& from, std::span<const int> positions) const {
  if (positions.empty()) return;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const auto take = [&]<typename T>(T) {
      const T* const source = static_cast<const T*>(from.pointers_[c]);
      T* const to = static_cast<T*>(pointers_[c]);
      // Several loads before the stores, as `to` might be `positions` for the compiler.
      constexpr std::size_t kAtOnce = 8;
      std::size_t k = 0;
      for (; k + kAtOnce <= positions.size(); k += kAtOnce) {
        std::array<T, kAtOnce> values;
        for (std::size_t n = 0; n < kAtOnce; ++n) values[n] = source[positions[k + n]];
        std::memcpy(to + k, values.data(), sizeof values);
      }
      for (; k < positions.size(); ++k) to[k] = source[positions[k]];
    };
    if (size_of(columns_[c].element) == 4)
      take(std::int32_t());
    else
      take(std::int64_t());
  }
}

void PackedSide::copy(const PackedSide& from, std::int64_t first, std::int64_t count, std::int64_t position) const {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::int64_t size = size_of(columns_[c].element);
    std::memcpy(static_cast<std::byte*>(pointers_[c]) + position * size,
                static_cast<const std::byte*>(from.pointers_[c]) + first * size, std::size_t(count * size));
  }
}

void PackedSide::shift(int component, double by, std::int64_t begin, std::int64_t end) const {
  const auto column_of = [&](Column::Part part) {
    const auto found =
        std::ranges::find_if(columns_, [&](const Column& c) { return c.component == component && c.part == part; });
    return found == columns_.end() ? nullptr : pointers_[std::size_t(found - columns_.begin())];
  };
  auto* const high = static_cast<float*>(column_of(Column::Part::High));
  auto* const low = static_cast<float*>(column_of(Column::Part::Low));
  for (std::int64_t k = begin; high && k < end; ++k) {
    const double value = double(high[k]) + double(low[k]) + by;
    high[k] = convert_part<Column::Part::High, float>(value);
    low[k] = convert_part<Column::Part::Low, float>(value);
  }
  for (const Packed& p : packed_) {
    const Column& column = columns_[p.column];
    if (column.component != component || column.part != Column::Part::Whole) continue;
    with_type(column.element, [&]<typename T>() {
      T* const values = static_cast<T*>(pointers_[p.column]);
      for (std::int64_t k = begin; k < end; ++k) values[k] = T(double(values[k]) + by);
    });
  }
}

void PackedSide::pad(std::int64_t position, std::int64_t count, std::int64_t padded) const {
  for (const Packed& p : packed_) {
    with_type(columns_[p.column].element, [&]<typename T>() {
      T* const values = static_cast<T*>(at(p, position));
      std::fill(values + count, values + padded, count > 0 ? values[count - 1] : T(0));
    });
  }
}

void pack(const ArrayView& view, int component, const Picked& picked, const Column& column, void* to) {
  with_type(view.element, [&]<typename From>() {
    if (column.part == Column::Part::High) {
      pack_as<Column::Part::High, float, From>(view, component, picked, static_cast<float*>(to));
    } else if (column.part == Column::Part::Low) {
      pack_as<Column::Part::Low, float, From>(view, component, picked, static_cast<float*>(to));
    } else {
      with_type(column.element, [&]<typename To>() {
        pack_as<Column::Part::Whole, To, From>(view, component, picked, static_cast<To*>(to));
      });
    }
  });
}

template <typename Value, std::size_t count>
void unpack(const std::array<const Value*, count>& values, const ArrayView& view, int component, const Picked& picked,
            std::optional<Reduction> accumulate) {
  with_type(view.element, [&]<typename T>() {
    const std::int64_t next = view.component_stride;
    if (!accumulate) {
      for_each_picked<T>(view, component, picked, [values, next](std::int64_t k, std::byte* to) {
        for (std::size_t c = 0; c < count; ++c) store(to + std::int64_t(c) * next, stored<T>(values[c][k]));
      });
    } else {
      for_each_picked<T>(view, component, picked, [values, next, how = *accumulate](std::int64_t k, std::byte* to) {
        for (std::size_t c = 0; c < count; ++c) {
          std::byte* const at = to + std::int64_t(c) * next;
          store(at, with_old<T>(how, load<T>(at), values[c][k]));
        }
      });
    }
  });
}

using Accumulate = std::optional<Reduction>;
template <typename Value, std::size_t count>
using Values = std::array<const Value*, count>;
template void unpack(const Values<double, 1>&, const ArrayView&, int, const Picked&, Accumulate);
template void unpack(const Values<double, 3>&, const ArrayView&, int, const Picked&, Accumulate);
template void unpack(const Values<std::int64_t, 1>&, const ArrayView&, int, const Picked&, Accumulate);
template void unpack(const Values<std::int64_t, 3>&, const ArrayView&, int, const Picked&, Accumulate);

}  // namespace nbcc
