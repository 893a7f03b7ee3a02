// Bound arrays -> the memory, of the host or of a GPU, that holds each array. Interface: find_residency(),
// residency_of(), find_pointer(), is_on_another_gpu(). Reads no particle.
#include "runtime/cuda/program/cuda_residency.h"

#include <algorithm>
#include <string>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/request/overlap.h"

namespace nbcc {
namespace {

bool is_read(const KernelSource& source, const FieldLayout& field) {
  const std::vector<Column>& columns = field.role == Role::InputI ? source.columns.i : source.columns.j;
  return std::ranges::any_of(columns, [&](const Column& column) {
    return column.component >= field.first && column.component < field.first + field.components();
  });
}

std::string named(const KernelSource& source, const FieldLayout& field) {
  return fmt::format("field '{}' of pipeline '{}'", field.name, source.pipeline);
}

void check_alignment(const KernelSource& source, const FieldLayout& field, const ArrayView& view) {
  if (is_small(view.element))
    throw UsageError(
        fmt::format("{}: arrays of 16-bit numbers in a GPU's memory are converted by a program that cannot be "
                    "compiled here; expected float or double",
                    named(source, field)));
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

// Finds inputs on the device that overlap an output on the device.
void find_overlaps(const KernelSource& source, std::span<const ArrayView> views, CudaResidency& residency) {
  const auto touches = [&](Role role, IsApart test) {
    return find_overlap(source.fields, views, test, [&](std::size_t in, std::size_t out) {
      return source.fields[in].role == role && residency.of[in] == Residency::Device &&
             residency.of[out] == Residency::Device;
    });
  };
  residency.outputs_touch_j = touches(Role::InputJ, disjoint).has_value();
  while (const auto found = touches(Role::InputI, independent)) residency.of[found->input] = Residency::ViaHost;
}

}  // namespace

CudaPointer find_pointer(const CudaGpu& gpu, const void* data) {
  // The driver writes fewer bytes than these variables have, so they must be 0 before.
  std::int64_t type = 0, ordinal = 0, managed = 0;
  int which[] = {kCudaMemoryType, kCudaDeviceOrdinal, kCudaIsManaged};
  void* values[] = {&type, &ordinal, &managed};
  gpu.require(gpu.driver().pointer_get_attributes(3, which, values, reinterpret_cast<std::uintptr_t>(data)),
              "asking where an array lies");
  return {managed != 0, type == std::int64_t(kCudaDeviceMemory), ordinal};
}

Residency residency_of(const CudaGpu& gpu, const void* data, const char* what) {
  if (gpu.shares(data)) return Residency::Device;
  const CudaPointer pointer = find_pointer(gpu, data);
  if (pointer.managed) return Residency::Device;
  if (!pointer.on_gpu) return Residency::Host;
  if (!gpu.reaches(pointer.ordinal)) {
    throw UsageError(fmt::format("{} lies in the memory of cuda:{}, but the sum runs on cuda:{}", what, pointer.ordinal,
                                 gpu.ordinal()));
  }
  return Residency::Device;
}

bool is_on_another_gpu(const CudaGpu& gpu, const void* data) {
  if (gpu.shares(data)) return false;
  const CudaPointer pointer = find_pointer(gpu, data);
  return pointer.on_gpu && !pointer.managed && pointer.ordinal != gpu.ordinal();
}

CudaResidency find_residency(const CudaGpu& gpu, const KernelSource& source, std::span<const ArrayView> views) {
  CudaResidency residency;
  residency.of.resize(source.fields.size(), Residency::None);
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    const FieldLayout& field = source.fields[f];
    const ArrayView& view = views[f];
    if (field.role == Role::Param || field.role == Role::InputPair || !view.data || view.count == 0) continue;
    if (field.role != Role::Output && !is_read(source, field)) continue;
    residency.of[f] = residency_of(gpu, view.data, named(source, field).c_str());
    if (residency.of[f] == Residency::Device) check_alignment(source, field, view);
  }
  find_overlaps(source, views, residency);
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    if (residency.of[f] == Residency::None) continue;
    const bool device = residency.of[f] == Residency::Device;
    residency.all_on_device = residency.all_on_device && device;
    if (source.fields[f].role == Role::InputI) residency.device_i = residency.device_i || device;
    if (source.fields[f].role == Role::Output) residency.device_outputs = residency.device_outputs || device;
  }
  return residency;
}

}  // namespace nbcc
