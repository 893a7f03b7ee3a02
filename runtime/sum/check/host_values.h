// Numbers of the caller's arrays, read one by one on the host.
#pragma once
#include <cstdint>
#include <cstring>

#include "runtime/error.h"
#include "runtime/sum/request/small_floats.h"
#include "runtime/sum/run/sum.h"

namespace nbcc {

// Component `component` of particle `particle`, as a double: an int64 beyond 2^53 is rounded.
inline double host_value(const ArrayView& view, std::int64_t particle, int component) {
  const auto* const from =
      static_cast<const std::byte*>(view.data) + particle * view.stride + component * view.component_stride;
  const auto read = [from]<typename T>(T value) {
    std::memcpy(&value, from, sizeof value);
    return double(value);
  };
  switch (view.element) {
    case Element::Float:
      return read(float());
    case Element::Double:
      return read(double());
    case Element::Int32:
      return read(std::int32_t());
    case Element::Half:
      return read(Half());
    case Element::BFloat16:
      return read(BFloat16());
    case Element::Int64:
      break;
  }
  return read(std::int64_t());
}

// True if the host can read the array.
inline bool is_on_host(const SumState& sum, const ArrayView& view) {
  try {
    return view.count == 0 || sum.summation().can_read(static_cast<const std::int64_t*>(view.data));
  } catch (const UsageError&) {
    return false;  // memory of another GPU, which a run reports
  }
}

}  // namespace nbcc
