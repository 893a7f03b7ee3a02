// Bound arrays -> on which side of the bus each of them is. Doors: find_places(), place_of(). Reads no particle.
#include "runtime/cuda/cuda_places.h"

#include <algorithm>
#include <string>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/overlap.h"

namespace nbcc {
namespace {

bool is_read(const KernelSource& source, const FieldLayout& field) {
  const std::vector<Column>& columns = field.role == Role::InputI ? source.i_columns : source.j_columns;
  return std::any_of(columns.begin(), columns.end(), [&](const Column& column) {
    return column.component >= field.first && column.component < field.first + field.components();
  });
}

std::string named(const KernelSource& source, const FieldLayout& field) {
  return fmt::format("field '{}' of pipeline '{}'", field.name, source.pipeline);
}

void check_alignment(const KernelSource& source, const FieldLayout& field, const ArrayView& view) {
  const std::int64_t size = size_of(view.element);
  const auto check = [&](std::int64_t value, const char* what) {
    if (value % size == 0) return;
    throw UsageError(fmt::format("{}: on a GPU its {} must be a multiple of its elements' {} bytes, but is {}",
                                 named(source, field), what, size, value));
  };
  check(std::int64_t(reinterpret_cast<std::uintptr_t>(view.data)), "address");
  check(view.stride, "stride");
  if (field.components() > 1) check(view.component_stride, "component_stride");
}

// Inputs on the device that an output on the device shares memory with.
void find_overlaps(const KernelSource& source, std::span<const ArrayView> views, CudaPlaces& places) {
  for (std::size_t out = 0; out < source.fields.size(); ++out) {
    if (source.fields[out].role != Role::Output || places.of[out] != CudaPlace::Device) continue;
    const int outputs = source.fields[out].components();
    for (std::size_t in = 0; in < source.fields.size(); ++in) {
      if (places.of[in] != CudaPlace::Device) continue;
      const int inputs = source.fields[in].components();
      if (source.fields[in].role == Role::InputJ && !disjoint(views[in], inputs, views[out], outputs)) {
        places.outputs_touch_j = true;
      } else if (source.fields[in].role == Role::InputI && !independent(views[in], inputs, views[out], outputs)) {
        places.of[in] = CudaPlace::Fetched;
      }
    }
  }
}

}  // namespace

CudaPlace place_of(const CudaGpu& gpu, const void* data, const char* what) {
  if (gpu.shares(data)) return CudaPlace::Device;
  // Zeros, and wider than what the driver writes.
  std::int64_t type = 0, ordinal = 0, managed = 0;
  int which[] = {kCudaMemoryType, kCudaDeviceOrdinal, kCudaIsManaged};
  void* values[] = {&type, &ordinal, &managed};
  gpu.require(gpu.driver().pointer_get_attributes(3, which, values, reinterpret_cast<std::uintptr_t>(data)),
              "asking where an array lies");
  if (managed != 0) return CudaPlace::Device;
  if (type != std::int64_t(kCudaDeviceMemory)) return CudaPlace::Host;
  if (ordinal != gpu.ordinal()) {
    throw UsageError(
        fmt::format("{} lies in the memory of cuda:{}, but the sum runs on cuda:{}", what, ordinal, gpu.ordinal()));
  }
  return CudaPlace::Device;
}

CudaPlaces find_places(const CudaGpu& gpu, const KernelSource& source, std::span<const ArrayView> views) {
  CudaPlaces places;
  places.of.resize(source.fields.size(), CudaPlace::Nowhere);
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    const FieldLayout& field = source.fields[f];
    const ArrayView& view = views[f];
    if (field.role == Role::Param || !view.data || view.count == 0) continue;
    if (field.role != Role::Output && !is_read(source, field)) continue;
    places.of[f] = place_of(gpu, view.data, named(source, field).c_str());
    if (places.of[f] == CudaPlace::Device) check_alignment(source, field, view);
  }
  find_overlaps(source, views, places);
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    if (places.of[f] == CudaPlace::Nowhere) continue;
    const bool device = places.of[f] == CudaPlace::Device;
    switch (source.fields[f].role) {
      case Role::InputI:
        (device ? places.device_i : places.host_i) = true;
        break;
      case Role::InputJ:
        if (!device) places.host_j = true;
        break;
      case Role::Output:
        (device ? places.device_outputs : places.host_outputs) = true;
        break;
      case Role::Param:
        break;
    }
  }
  return places;
}

}  // namespace nbcc
