// Converts between the caller's strided arrays and the packed SoA arrays ("columns") that kernels read.
// Tested by tests/unit/runtime/sum/request/pack_test.cpp.
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

// A selection of particles: `count` consecutive ones from `first`, or, if `list` is not null, the indices
// list[0..count).
struct Picked {
  std::int64_t first = 0;
  const std::int64_t* list = nullptr;
  std::int64_t count = 0;
};

// A 64-byte-aligned buffer that only grows; growing discards its contents.
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

// The packed columns of one side (i, j or listed pairs), each 64-byte aligned, and the caller's fields from which they
// are packed.
class PackedSide {
 public:
  // `source` must outlive this object. `only`: the columns that pack() fills; empty: all.
  PackedSide(const KernelSource& source, Role side, std::span<const int> only = {});
  // Allocates every column for `capacity` particles and discards the contents.
  void reserve(std::int64_t capacity);
  // Packs the picked particles into the columns from `position` on. `views` are parallel to the kernel's fields.
  void pack(std::span<const ArrayView> views, const Picked& picked, std::int64_t position) const;
  // Packs the first origins.size() inputs, which are doubles, less their origins.
  void pack_relative(std::span<const ArrayView> views, const Picked& picked, std::int64_t position,
                     std::span<const double> origins) const;
  // The first `count` inputs of a particle, which are doubles.
  std::vector<double> inputs_of(std::span<const ArrayView> views, std::int64_t particle, int count) const;
  // Fills [position + count, position + padded) with copies of the last of the `count` particles at `position`, so that
  // the vector elements beyond the end compute with ordinary numbers.
  void pad(std::int64_t position, std::int64_t count, std::int64_t padded) const;
  // Copies the particles at `positions` of `from`, a side of the same kernel, to the front of the columns, derived
  // columns included.
  void gather(const PackedSide& from, std::span<const int> positions) const;
  // Copies the particles [first, first + count) of `from`, a side of the same kernel, to `position`, derived columns
  // included.
  void copy(const PackedSide& from, std::int64_t first, std::int64_t count, std::int64_t position) const;
  // Adds `by` to a component of the particles at [begin, end). The caller must recompute the derived columns.
  void shift(int component, double by, std::int64_t begin, std::int64_t end) const;
  const void* const* columns() const { return pointers_.data(); }

 private:
  struct Packed {
    std::size_t column, field;
    int component;  // of the field
  };
  void* at(const Packed& packed, std::int64_t position) const;

  const std::vector<Column>& columns_;
  std::vector<Packed> packed_;  // the columns that pack() fills; derived columns are not among them
  AlignedBuffer memory_;
  std::vector<void*> pointers_;
};

// Converts component `component` of the picked particles to the column's element type and stores it at `to`. Real to
// integer truncates and saturates; NaN gives 0. A value beyond float's range gets High = infinity and Low = 0, so that
// High + Low is infinite and not NaN.
void pack(const ArrayView& view, int component, const Picked& picked, const Column& column, void* to);

// The opposite direction: stores values[c][k] (double or std::int64_t) in component `component` + c of the k-th picked
// particle, for c < count (1 or 3) in one pass over the particles. With `accumulate` (not ArgMin, ArgMax, At, Softmax)
// the value is combined with the stored one. Conversion to integers rounds to the nearest and saturates; NaN gives 0.
template <typename Value, std::size_t count>
void unpack(const std::array<const Value*, count>& values, const ArrayView& view, int component, const Picked& picked,
            std::optional<Reduction> accumulate = {});
template <typename Value>
void unpack(const Value* values, const ArrayView& view, int component, const Picked& picked,
            std::optional<Reduction> accumulate = {}) {
  unpack(std::array{values}, view, component, picked, accumulate);
}

}  // namespace nbcc
