// Integer division that rounds up, and rounding up to a multiple. n >= 0.
#pragma once
#include <cstdint>

namespace nbcc {

constexpr std::int64_t ceil_div(std::int64_t n, std::int64_t divisor) { return (n + divisor - 1) / divisor; }
constexpr std::int64_t round_up(std::int64_t n, std::int64_t multiple) { return ceil_div(n, multiple) * multiple; }

}  // namespace nbcc
