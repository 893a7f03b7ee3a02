// Packs the j arrays of a rank into a block, and makes views of a block. Entry points: pack_block(), pack_field(),
// views_in_block().
// Sends nothing.
#include "mpi/block.h"

#include <algorithm>
#include <cstring>

namespace nbcc {
namespace {

std::int64_t field_units(const JField& field, std::int64_t count, nbcc_element element) {
  return (count * field.components * size_of_element(element) + kBlockUnitBytes - 1) / kBlockUnitBytes;
}

// Copies the elements of a strided array to contiguous memory.
template <typename T>
void copy_strided(const nbcc_view& from, int components, T* to) {
  const auto* const first = static_cast<const std::byte*>(from.data);
  for (std::int64_t k = 0; k < from.count; ++k)
    for (int c = 0; c < components; ++c, ++to)
      std::memcpy(to, first + k * from.stride + c * from.component_stride, sizeof(T));
}

bool is_contiguous(const nbcc_view& array, int components) {
  const std::int64_t size = size_of_element(array.element);
  return (components == 1 || array.component_stride == size) && array.stride == size * components;
}

void copy_field(const nbcc_view& from, int components, std::byte* to) {
  const std::int64_t size = size_of_element(from.element);
  if (is_contiguous(from, components))
    std::memcpy(to, from.data, std::size_t(from.count * from.stride));
  else if (size == 2)
    copy_strided(from, components, reinterpret_cast<std::uint16_t*>(to));
  else if (size == 4)
    copy_strided(from, components, reinterpret_cast<std::uint32_t*>(to));
  else
    copy_strided(from, components, reinterpret_cast<std::uint64_t*>(to));
}

// Copies the bytes that a device array spans into `bytes` on the host and returns the view of that copy. Strides may be
// negative.
nbcc_view staged_on_host(nbcc_device* device, nbcc_view array, int components, std::vector<std::byte>& bytes) {
  const std::int64_t rows = (array.count - 1) * array.stride, columns = (components - 1) * array.component_stride;
  const std::int64_t low = std::min<std::int64_t>(rows, 0) + std::min<std::int64_t>(columns, 0);
  const std::int64_t high = std::max<std::int64_t>(rows, 0) + std::max<std::int64_t>(columns, 0);
  bytes.resize(std::size_t(high - low + size_of_element(array.element)));
  detail::call(nbcc_device_read, device, static_cast<void*>(bytes.data()),
               static_cast<const void*>(static_cast<const std::byte*>(array.data) + low), bytes.size());
  array.data = bytes.data() - low;
  return array;
}

}  // namespace

std::int64_t size_of_element(nbcc_element element) {
  if (element == NBCC_HALF || element == NBCC_BFLOAT16) return 2;
  return element == NBCC_FLOAT || element == NBCC_INT32 ? 4 : 8;
}

std::int64_t block_units(const std::vector<JField>& fields, const RankLayout& layout) {
  std::int64_t units = 0;
  for (std::size_t f = 0; f < fields.size(); ++f) units += field_units(fields[f], layout.nj, layout.elements[f]);
  return units;
}

std::vector<nbcc_view> views_in_block(const std::vector<JField>& fields, const RankLayout& layout, void* data,
                                      std::int64_t begin, std::int64_t count) {
  std::vector<nbcc_view> views;
  auto* at = static_cast<std::byte*>(data);
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const std::int64_t size = size_of_element(layout.elements[f]), row = size * fields[f].components;
    views.push_back({at + begin * row, layout.elements[f], count, row, size});
    at += kBlockUnitBytes * field_units(fields[f], layout.nj, layout.elements[f]);
  }
  return views;
}

std::vector<nbcc_view> subrange_of(std::vector<nbcc_view> arrays, std::int64_t begin, std::int64_t count) {
  for (nbcc_view& array : arrays) {
    array.data = static_cast<std::byte*>(array.data) + begin * array.stride;
    array.count = count;
  }
  return arrays;
}

void pack_field(nbcc_device* device, const JField& field, const nbcc_view& array, void* data) {
  auto* const to = static_cast<std::byte*>(data);
  if (!on_device(device, array)) return copy_field(array, field.components, to);
  if (is_contiguous(array, field.components))
    return detail::call(nbcc_device_read, device, data, static_cast<const void*>(array.data),
                        std::size_t(array.count * array.stride));
  std::vector<std::byte> bytes;
  copy_field(staged_on_host(device, array, field.components, bytes), field.components, to);
}

void pack_block(nbcc_device* device, const std::vector<JField>& fields, const RankLayout& layout,
                const std::vector<nbcc_view>& arrays, void* data) {
  if (layout.nj == 0) return;
  const std::vector<nbcc_view> block = views_in_block(fields, layout, data, 0, layout.nj);
  for (std::size_t f = 0; f < fields.size(); ++f) pack_field(device, fields[f], arrays[f], block[f].data);
}

bool on_device(nbcc_device* device, const nbcc_view& array) {
  int holds = 0;
  detail::call(nbcc_device_holds, device, static_cast<const void*>(array.data), &holds);
  return holds != 0;
}

}  // namespace nbcc
