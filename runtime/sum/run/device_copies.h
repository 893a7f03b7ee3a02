// Copies of particles in the memory of a device, which a run makes for its kernels in the run's stream: of images
// (runtime/sum/derived/image_copies.h), of the particles of listed pairs. The kernels that make them are those of
// templates/cuda/frames/cuda_copies.cu.in; their arguments are declared in cuda_copy_data.h. Tested by
// tests/numeric/every_image_test.cpp and pair_values_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/sum/plan/device.h"

namespace nbcc {

class DeviceCopies {
 public:
  DeviceCopies() = default;
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;
  virtual ~DeviceCopies() = default;
  // Begins the copies of a run in this stream: later work waits for the earlier runs that read copies, until end().
  virtual void begin(void* stream) = 0;
  virtual void end() noexcept = 0;
  // Array number `number`, with room for `bytes` bytes. If it must grow, its contents are lost. Throws DeviceError.
  virtual void* reserve(std::size_t number, std::size_t bytes) = 0;
  // Copies between the host and an array; waits for the copy, and so for the stream's work. Throws DeviceError while
  // the stream is captured into a graph.
  virtual void send(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fetch(void* to, const void* from, std::size_t bytes) = 0;
  // Launches a kernel of cuda_copies.cu.in with enough threads for so many items, in at most so many blocks.
  virtual void launch(std::string_view kernel, std::int64_t items, const void* argument, std::int64_t max_blocks) = 0;
};

// The copies of one run: begin() and end() of `copies`, which may be null.
class CopiesOfRun {
 public:
  CopiesOfRun(DeviceCopies* copies, void* stream) : copies_(copies) {
    if (copies_) copies_->begin(stream);
  }
  ~CopiesOfRun() {
    if (copies_) copies_->end();
  }
  CopiesOfRun(const CopiesOfRun&) = delete;
  CopiesOfRun& operator=(const CopiesOfRun&) = delete;

 private:
  DeviceCopies* copies_;
};

// The arrays of a run whose memory decides where its copies are made: inputs and outputs, without totals.
inline std::vector<ArrayView> arrays_of(std::span<const FieldLayout> fields, std::span<const ArrayView> views) {
  std::vector<ArrayView> arrays;
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (fields[f].role != Role::Param && !fields[f].is_total() && views[f].data && views[f].count > 0)
      arrays.push_back(views[f]);
  return arrays;
}

// Copies a field of the particles at `rows`, int64 in the device's memory, to array `number`; null: all particles.
ArrayView gathered(DeviceCopies& device, std::size_t number, const ArrayView& view, int components,
                   const std::int64_t* rows, std::int64_t count);

}  // namespace nbcc
