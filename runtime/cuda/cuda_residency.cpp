// Bound arrays -> on which side of the bus each of them is. Doors: find_residency(), residency_of(). Reads no particle.
#include "runtime/cuda/cuda_residency.h"

#include <algorithm>
#include <string>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/overlap.h"

namespace nbcc {
namespace {

bool is_read(const KernelSource& source, const FieldLayout& field) {
  const std::vector<Column>& columns = field.role == Role::InputI ? source.i_columns : source.j_columns;
  return std::ranges::any_of(columns, [&](const Column& column) {
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
void find_overlaps(const KernelSource& source, std::span<const ArrayView> views, CudaResidency& residency) {
  for (std::size_t out = 0; out < source.fields.size(); ++out) {
    if (source.fields[out].role != Role::Output || residency.of[out] != Residency::Device) continue;
    const int outputs = source.fields[out].components();
    for (std::size_t in = 0; in < source.fields.size(); ++in) {
      if (residency.of[in] != Residency::Device) continue;
      const int inputs = source.fields[in].components();
      if (source.fields[in].role == Role::InputJ && !disjoint(views[in], inputs, views[out], outputs)) {
        residency.outputs_touch_j = true;
      } else if (source.fields[in].role == Role::InputI && !independent(views[in], inputs, views[out], outputs)) {
        residency.of[in] = Residency::Fetched;
      }
    }
  }
}

}  // namespace

Residency residency_of(const CudaGpu& gpu, const void* data, const char* what) {
  if (gpu.shares(data)) return Residency::Device;
  // Zeros, and wider than what the driver writes.
  std::int64_t type = 0, ordinal = 0, managed = 0;
  int which[] = {kCudaMemoryType, kCudaDeviceOrdinal, kCudaIsManaged};
  void* values[] = {&type, &ordinal, &managed};
  gpu.require(gpu.driver().pointer_get_attributes(3, which, values, reinterpret_cast<std::uintptr_t>(data)),
              "asking where an array lies");
  if (managed != 0) return Residency::Device;
  if (type != std::int64_t(kCudaDeviceMemory)) return Residency::Host;
  if (!gpu.reaches(ordinal)) {
    throw UsageError(
        fmt::format("{} lies in the memory of cuda:{}, but the sum runs on cuda:{}", what, ordinal, gpu.ordinal()));
  }
  return Residency::Device;
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
