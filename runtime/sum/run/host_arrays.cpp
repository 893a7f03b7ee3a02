// Entry points: on_host(), gathered().
#include "runtime/sum/run/host_arrays.h"

#include <algorithm>
#include <cstring>

namespace nbcc {
namespace {

// Rows of kBytes adjacent bytes; 0: of `bytes`.
template <std::size_t kBytes>
void copy_rows(const std::byte* from, std::int64_t stride, std::span<const std::int64_t> rows, std::byte* to,
               std::size_t bytes = kBytes) {
  const std::size_t width = kBytes > 0 ? kBytes : bytes;
  for (const std::int64_t row : rows) {
    std::memcpy(to, from + row * stride, width);
    to += width;
  }
}

}  // namespace

ArrayView on_host(const ArrayView& view, int components, std::vector<std::byte>& held, const Summation& device,
                  void* stream) {
  if (!view.data || view.count == 0 || device.can_read(static_cast<const std::int64_t*>(view.data))) return view;
  device.synchronize(stream);
  const std::int64_t rows = (view.count - 1) * view.stride, across = (components - 1) * view.component_stride;
  const std::int64_t lowest = std::min<std::int64_t>(rows, 0) + std::min<std::int64_t>(across, 0);
  const std::int64_t highest = std::max<std::int64_t>(rows, 0) + std::max<std::int64_t>(across, 0);
  held.resize(std::size_t(highest - lowest + size_of(view.element)));
  device.fetch(held.data(), static_cast<const std::byte*>(view.data) + lowest, held.size());
  ArrayView copy = view;
  copy.data = held.data() - lowest;
  return copy;
}

ArrayView gathered(const ArrayView& view, int components, std::span<const std::int64_t> rows,
                   std::vector<std::byte>& memory, const Summation& device, void* stream) {
  const auto count = std::int64_t(rows.size());
  const std::int64_t size = size_of(view.element);
  if (count == 0) return {view.data, view.element, 0, 0, size};
  std::vector<std::byte> held;
  const ArrayView from = on_host(view, components, held, device, stream);
  memory.resize(std::size_t(count * components * size));
  const auto* const begin = static_cast<const std::byte*>(from.data);
  std::byte* to = memory.data();
  const auto width = std::size_t(components * size);
  if (components > 1 && view.component_stride != size) {
    for (const std::int64_t row : rows)
      for (std::int64_t c = 0; c < components; ++c, to += size)
        std::memcpy(to, begin + row * view.stride + c * view.component_stride, std::size_t(size));
  } else if (width == 4) {
    copy_rows<4>(begin, view.stride, rows, to);
  } else if (width == 8) {
    copy_rows<8>(begin, view.stride, rows, to);
  } else if (width == 12) {
    copy_rows<12>(begin, view.stride, rows, to);
  } else if (width == 24) {
    copy_rows<24>(begin, view.stride, rows, to);
  } else {
    copy_rows<0>(begin, view.stride, rows, to, width);
  }
  return {memory.data(), view.element, count, components * size, size};
}

std::string renumbered(const std::string& message, std::string_view word,
                       const std::function<std::string(std::int64_t)>& text) {
  std::string made;
  std::size_t from = 0;
  for (;;) {
    const std::size_t at = message.find(word, from);
    std::size_t end = at == std::string::npos ? at : at + word.size();
    const std::size_t digits = end;
    while (end < message.size() && message[end] >= '0' && message[end] <= '9') ++end;
    if (at == std::string::npos) return made + message.substr(from);
    made += message.substr(from, at - from);
    made += end > digits ? text(std::stoll(message.substr(digits, end - digits))) : std::string(word);
    from = end;
  }
}

}  // namespace nbcc
