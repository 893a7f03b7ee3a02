// The caller's strided arrays, and the packed columns that kernels read.
// Tested by tests/unit/pack_test.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compiler/kernel_source.h"
#include "runtime/round_up.h"

namespace nbcc {

// A field of a caller's particle set: component c of particle k is at data + k * stride + c * component_stride
// (bytes). Any alignment; strides may be zero or negative.
struct ArrayView {
  void* data = nullptr;
  Element element = Element::Double;
  std::int64_t count = 0;
  std::int64_t stride = 0;
  std::int64_t component_stride = 0;
  bool operator==(const ArrayView&) const = default;
};

// Which particles of a set stand in a row: `count` consecutive ones from `first`, or those of `list`.
struct Picked {
  std::int64_t first = 0;
  const std::int64_t* list = nullptr;
  std::int64_t count = 0;
};

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

// One side of a kernel, i or j: its columns, each 64-byte aligned, and the caller's fields that they are packed from.
class PackedSide {
 public:
  // `source` must outlive this object. `only`: the columns that pack() fills; empty: all.
  PackedSide(const KernelSource& source, Role side, std::span<const int> only = {});
  // Room for `capacity` particles in every column; the contents are lost.
  void reserve(std::int64_t capacity);
  // The picked particles to `position` and behind. `views` are parallel to the kernel's fields.
  void pack(std::span<const ArrayView> views, const Picked& picked, std::int64_t position) const;
  // Fills [position + count, position + padded) with the last of the `count` particles at `position`, so that what a
  // vector holds behind the end computes with ordinary numbers.
  void pad(std::int64_t position, std::int64_t count, std::int64_t padded) const;
  // The particles at these positions of another side of the same kernel, with what was prepared of them, to the front.
  void gather(const PackedSide& from, std::span<const int> positions) const;
  // Adds to a component of particles at [begin, end); what was derived of it must be prepared again.
  void shift(int component, double by, std::int64_t begin, std::int64_t end) const;
  const void* const* columns() const { return pointers_.data(); }

 private:
  struct Packed {
    std::size_t column, field;
    int component;
  };
  void* at(const Packed& packed, std::int64_t position) const;

  const std::vector<Column>& columns_;
  std::vector<Packed> packed_;  // all but the derived ones
  AlignedBuffer memory_;
  std::vector<void*> pointers_;
};

// Component `component` of the picked particles, converted, to the column's elements at `to`. Real to integer
// truncates and saturates (NaN gives 0). A value beyond float's range has High = infinity and Low = 0, so that their
// sum is infinite and not NaN.
void pack(const ArrayView& view, int component, const Picked& picked, const Column& column, void* to);

// The opposite direction: values[c][k] (of double or std::int64_t) to component `component` + c of the k-th picked
// particle, whose row is written once for all (one or three) of them; by `accumulate` (but ArgMin, ArgMax, At and
// Softmax) combined with what stands there. Integers are rounded to the nearest and saturate; NaN gives 0.
template <typename Value, std::size_t count>
void unpack(const std::array<const Value*, count>& values, const ArrayView& view, int component, const Picked& picked,
            std::optional<Reduction> accumulate = {});
template <typename Value>
void unpack(const Value* values, const ArrayView& view, int component, const Picked& picked,
            std::optional<Reduction> accumulate = {}) {
  unpack(std::array{values}, view, component, picked, accumulate);
}

}  // namespace nbcc
