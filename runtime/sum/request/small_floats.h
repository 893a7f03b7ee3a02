// Floating-point numbers of 16 bits: IEEE 754 binary16 and bfloat16. Plain integer arithmetic, because compilers and
// processors without these types are supported. Tested by tests/python/test_small_floats.py.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace nbcc {

// The number with `digits` bits after the leading one, or with the steps of the smallest normal number 2^least, that is
// nearest to x; of two the even one.
inline double rounded_to(double x, int digits, int least) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int step = std::max(std::ilogb(x), least) - digits;
  return std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
}

struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(double x) {
    constexpr double kBeyond = 65520;  // and above: infinite
    const auto single = float(std::fabs(x) >= kBeyond ? std::copysign(INFINITY, x) : rounded_to(x, 10, -14));
    const auto of_float = std::bit_cast<std::uint32_t>(single);
    const std::uint32_t magnitude = of_float & 0x7fffffffu;
    std::uint32_t low = magnitude >= 0x7f800000u  ? 0x7c00u | (magnitude > 0x7f800000u ? 0x200u : 0u)
                        : magnitude < 0x38800000u ? std::uint32_t(std::fabs(single) * 0x1p24f)
                                                  : (magnitude >> 13) - (112u << 10);
    bits = std::uint16_t(low | (of_float >> 16 & 0x8000u));
  }
  operator float() const {
    const std::uint32_t sign = std::uint32_t(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    // Numbers below the smallest normal one are multiples of 2^-24. Floats as small may be flushed to 0.
    if (magnitude < 0x400u) return (sign != 0 ? -0x1p-24f : 0x1p-24f) * float(magnitude);
    // The exponent is biased by 15, that of a float by 127.
    return std::bit_cast<float>(sign | ((magnitude << 13) + (magnitude >= 0x7c00u ? 224u << 23 : 112u << 23)));
  }
};

struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(double x) {
    const double nearest = rounded_to(x, 7, -126);
    const auto of_float = std::bit_cast<std::uint32_t>(float(nearest));
    bits = std::uint16_t(of_float >> 16 | (std::isnan(x) ? 0x40u : 0u));
  }
  operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
};

}  // namespace nbcc
