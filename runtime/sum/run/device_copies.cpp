// Entry point: gathered() for arrays of a device.
#include "runtime/sum/run/device_copies.h"

#include "templates/cuda/frames/cuda_copy_data.h"

namespace nbcc {

ArrayView gathered(DeviceCopies& device, std::size_t number, const ArrayView& view, int components,
                   const std::int64_t* rows, std::int64_t count) {
  const std::int64_t size = size_of(view.element);
  if (count == 0) return {view.data, view.element, 0, 0, size};
  void* const to = device.reserve(number, std::size_t(count * components * size));
  const copy_data::Gather gather{
      static_cast<const char*>(view.data),      view.stride, view.component_stride, size, components,
      reinterpret_cast<const long long*>(rows), count,       static_cast<char*>(to)};
  device.launch("nbcc_gather", count * components, &gather, copy_data::kMaxBlocks);
  return {to, view.element, count, components * size, size};
}

}  // namespace nbcc
