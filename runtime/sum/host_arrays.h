// Arrays of callers where the host can read them.
#pragma once
#include <cstddef>
#include <vector>

#include "runtime/sum/device.h"

namespace nbcc {

// The array itself, or a copy in `held` if it is in device memory. `components`: of the field.
ArrayView on_host(const ArrayView& view, int components, std::vector<std::byte>& held, const Summation& device);

// Copies a field of the particles at `rows` to consecutive rows in `memory`, which must outlive the view.
ArrayView gathered(const ArrayView& view, int components, std::span<const std::int64_t> rows,
                   std::vector<std::byte>& memory, const Summation& device);

}  // namespace nbcc
