// The caller's strided arrays, and the packed columns that kernels read.
// Tested by tests/unit/pack_test.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// A field of a caller's particle set: component c of particle k is at data + k * stride + c * component_stride
// (bytes). Any alignment; strides may be zero or negative.
struct ArrayView {
  void* data = nullptr;
  Element element = Element::Double;
  std::int64_t count = 0;
  std::int64_t stride = 0;
  std::int64_t component_stride = 0;
};

// Which particles of a set stand in a row: `count` consecutive ones from `first`, or those of `list`.
struct Picked {
  std::int64_t first = 0;
  const std::int64_t* list = nullptr;
  std::int64_t count = 0;
};

constexpr std::int64_t round_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// Memory that begins at a multiple of 64 bytes and only grows; growing loses the contents.
class AlignedBuffer {
 public:
  void reserve(std::size_t bytes);  // throws std::bad_alloc
  std::byte* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_ = 0;
};

// The columns of one side of a kernel, each 64-byte aligned.
class PackedColumns {
 public:
  // Room for `capacity` particles in every column; the contents are lost.
  void reserve(const std::vector<Column>& columns, std::int64_t capacity);
  const void* const* pointers() const { return pointers_.data(); }
  std::byte* column(std::size_t k) const { return static_cast<std::byte*>(pointers_[k]); }

 private:
  AlignedBuffer memory_;
  std::vector<void*> pointers_;
};

// Component `component` of the picked particles, converted, to the column's elements at `to`. Real to integer
// truncates and saturates (NaN gives 0). A value beyond float's range has High = infinity and Low = 0, so that their
// sum is infinite and not NaN.
void pack(const ArrayView& view, int component, const Picked& picked, const Column& column, void* to);

// Components `component` to `component` + 2 to three whole columns of one element, as three calls would; each row is
// read once.
void pack_three(const ArrayView& view, int component, const Picked& picked, Element element,
                const std::array<void*, 3>& to);

// Fills elements [count, padded) with the last element, or with 0 when there is none, so that the lanes behind the end
// compute with ordinary numbers.
void pad(Element element, void* column, std::int64_t count, std::int64_t padded);

// The opposite direction: values[k] to component `component` of the k-th picked particle. Integers are rounded to the
// nearest and saturate; NaN gives 0.
void unpack(const double* values, const ArrayView& view, int component, const Picked& picked);
void unpack(const std::int64_t* values, const ArrayView& view, int component, const Picked& picked);
// Three components from `component` on, each row written once.
void unpack_three(const std::array<const double*, 3>& values, const ArrayView& view, int component,
                  const Picked& picked);
// As unpack(), combined with what stands there by the reduction (Sum, Min or Max).
void unpack_onto(const double* values, const ArrayView& view, int component, const Picked& picked,
                 FieldLayout::Reduction reduction);
void unpack_onto(const std::int64_t* values, const ArrayView& view, int component, const Picked& picked,
                 FieldLayout::Reduction reduction);

}  // namespace nbcc
