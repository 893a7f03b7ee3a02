// Turns the caller's strided arrays into packed columns (pack), and sums back into strided arrays (unpack).
// Checks nothing: counts and indices were checked before. Does not know which particles belong to which block.
#include "runtime/sum/pack.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "runtime/sum/reduction.h"

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
    case Element::Int64:
      break;
  }
  return use.template operator()<std::int64_t>();
}

// A conversion that is defined for every value.
template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    // -2^63 and -2^31 are exact in every real type, the maxima are not: compare with the power of two above.
    constexpr From lowest = From(std::numeric_limits<To>::min());
    if (value < lowest) return std::numeric_limits<To>::min();
    if (value >= -lowest) return std::numeric_limits<To>::max();
    return To(value);
  } else if constexpr (std::is_same_v<To, std::int32_t> && std::is_same_v<From, std::int64_t>) {
    return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : To(value);
  } else {
    return To(value);
  }
}

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
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::byte* component_of(const ArrayView& view, int component) {
  return static_cast<std::byte*>(view.data) + component * view.component_stride;
}

// The three ways to find the next element; `contiguous` is apart because only there do loads become vector loads.
// Count and stride are copied, since what is stored could change them for all the compiler knows.
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

// NaN stays.
template <typename T>
T joined(T old, std::int64_t value, FieldLayout::Reduction reduction) {
  const T part = convert<T>(value);
  return (reduction == FieldLayout::Reduction::Min ? part < old : part > old) ? part : old;
}

template <typename To>
To round_to(double value) {
  if constexpr (std::is_integral_v<To>) return convert<To>(std::round(value));
  return To(value);
}

template <typename T>
T joined(T old, double value, FieldLayout::Reduction reduction) {
  using enum FieldLayout::Reduction;
  if constexpr (std::is_integral_v<T>) {
    const T part = round_to<T>(value);
    if (reduction == Min) return part < old ? part : old;
    if (reduction == Max) return part > old ? part : old;
    T sum;
    if (!__builtin_add_overflow(old, part, &sum)) return sum;
    return part < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  } else {
    if (reduction == Min) return T(join_min(double(old), value));
    if (reduction == Max) return T(join_max(double(old), value));
    return T(double(old) + value);
  }
}

}  // namespace

void AlignedBuffer::Free::operator()(std::byte* p) const { std::free(p); }

void AlignedBuffer::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  if (bytes > std::size_t(std::numeric_limits<std::ptrdiff_t>::max()) - 64) throw std::bad_alloc();
  // The old block goes first: both together may be more than there is.
  memory_.reset();
  bytes_ = 0;
  const std::size_t rounded = (bytes + 63) / 64 * 64;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
  if (!memory_) throw std::bad_alloc();
  bytes_ = rounded;
}

void PackedColumns::reserve(const std::vector<Column>& columns, std::int64_t capacity) {
  // Columns that begin at the same offset of a page fall into the same sets of an 8-way L1 cache and push each other
  // out; ten cache lines between them leave room for a tile of 160 floats of each.
  constexpr std::size_t page = 4096, stagger = 640;
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
  for (const Column& column : columns) {
    std::size_t column_bytes = 0;
    if (__builtin_mul_overflow(std::size_t(capacity), std::size_t(size_of(column.element)), &column_bytes) ||
        column_bytes > std::size_t(1) << 60) {
      throw std::bad_alloc();
    }
    offsets.push_back(bytes);
    bytes += std::size_t(round_up(std::int64_t(column_bytes), page)) + stagger;
  }
  memory_.reserve(bytes);
  pointers_.clear();
  for (const std::size_t offset : offsets) pointers_.push_back(memory_.data() + offset);
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

void pack_three(const ArrayView& view, int component, const Picked& picked, Element element,
                const std::array<void*, 3>& to) {
  with_type(view.element, [&]<typename From>() {
    with_type(element, [&]<typename To>() {
      To* const x = static_cast<To*>(to[0]);
      To* const y = static_cast<To*>(to[1]);
      To* const z = static_cast<To*>(to[2]);
      const std::int64_t next = view.component_stride;
      for_each_picked<From>(view, component, picked, [=](std::int64_t k, const std::byte* from) {
        x[k] = convert<To>(load<From>(from));
        y[k] = convert<To>(load<From>(from + next));
        z[k] = convert<To>(load<From>(from + 2 * next));
      });
    });
  });
}

void pad(Element element, void* column, std::int64_t count, std::int64_t padded) {
  with_type(element, [&]<typename T>() {
    T* const values = static_cast<T*>(column);
    const T filling = count > 0 ? values[count - 1] : T(0);
    for (std::int64_t k = count; k < padded; ++k) values[k] = filling;
  });
}

void unpack(const double* values, const ArrayView& view, int component, const Picked& picked) {
  with_type(view.element, [&]<typename T>() {
    for_each_picked<T>(view, component, picked,
                       [values](std::int64_t k, std::byte* to) { store(to, round_to<T>(values[k])); });
  });
}

void unpack(const std::int64_t* values, const ArrayView& view, int component, const Picked& picked) {
  with_type(view.element, [&]<typename T>() {
    for_each_picked<T>(view, component, picked,
                       [values](std::int64_t k, std::byte* to) { store(to, convert<T>(values[k])); });
  });
}

void unpack_three(const std::array<const double*, 3>& values, const ArrayView& view, int component,
                  const Picked& picked) {
  with_type(view.element, [&]<typename T>() {
    const auto [x, y, z] = values;
    const std::int64_t next = view.component_stride;
    for_each_picked<T>(view, component, picked, [x, y, z, next](std::int64_t k, std::byte* to) {
      store(to, round_to<T>(x[k]));
      store(to + next, round_to<T>(y[k]));
      store(to + 2 * next, round_to<T>(z[k]));
    });
  });
}

void unpack_onto(const double* values, const ArrayView& view, int component, const Picked& picked,
                 FieldLayout::Reduction reduction) {
  with_type(view.element, [&]<typename T>() {
    for_each_picked<T>(view, component, picked, [values, reduction](std::int64_t k, std::byte* to) {
      store(to, joined(load<T>(to), values[k], reduction));
    });
  });
}

void unpack_onto(const std::int64_t* values, const ArrayView& view, int component, const Picked& picked,
                 FieldLayout::Reduction reduction) {
  with_type(view.element, [&]<typename T>() {
    for_each_picked<T>(view, component, picked, [values, reduction](std::int64_t k, std::byte* to) {
      store(to, joined(load<T>(to), values[k], reduction));
    });
  });
}

}  // namespace nbcc
