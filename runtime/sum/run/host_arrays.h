// Arrays of callers where the host can read them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sum/plan/device.h"

namespace nbcc {

// The array itself, or a copy in `held` if it is in device memory. `components`: of the field; `stream`: of the
// run, whose earlier work a copy waits for.
ArrayView on_host(const ArrayView& view, int components, std::vector<std::byte>& held, const Summation& device,
                  void* stream);

// Copies a field of the particles at `rows` to consecutive rows in `memory`, which must outlive the view.
ArrayView gathered(const ArrayView& view, int components, std::span<const std::int64_t> rows,
                   std::vector<std::byte>& memory, const Summation& device, void* stream);

// A message in which the number behind `word` is replaced: the word and the number by `text` of the number.
std::string renumbered(const std::string& message, std::string_view word,
                       const std::function<std::string(std::int64_t)>& text);

}  // namespace nbcc
