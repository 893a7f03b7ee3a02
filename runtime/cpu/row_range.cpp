// Interface: range_of(), are_equal(). Loops over vectors with several sums, which compilers do not make of scalar
// loops.
#include "runtime/cpu/row_range.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/search/particle_tree.h"

namespace nbcc {

RowRange range_of(const double* row, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kVectors = 4, kAtOnce = kVectors * kDoubles;
  RowRange range;
  std::array<Doubles, kVectors> low, high, zero{};  // zero: NaN after a value that is not finite
  low.fill(Doubles{} + range.low);
  high.fill(Doubles{} + range.high);
  std::int64_t k = begin;
  for (; k + kAtOnce <= end; k += kAtOnce)
    for (std::size_t v = 0; v < kVectors; ++v) {
      Doubles value;
      std::memcpy(&value, row + k + std::int64_t(v) * kDoubles, sizeof value);
      low[v] = value < low[v] ? value : low[v];
      high[v] = value > high[v] ? value : high[v];
      zero[v] += value - value;
    }
  double all_zero = 0;
  const auto take = [&](double least, double most, double none) {
    range.low = std::min(range.low, least);
    range.high = std::max(range.high, most);
    all_zero += none;
  };
  for (std::size_t v = 0; v < kVectors; ++v)
    for (int n = 0; n < kDoubles; ++n) take(low[v][n], high[v][n], zero[v][n]);
  for (; k < end; ++k) take(row[k], row[k], row[k] - row[k]);
  range.is_finite = all_zero == 0;
  return range;
}

bool are_equal(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr std::size_t kAtOnce = 512;
  if (a.size() != b.size()) return false;
  for (std::size_t begin = 0; begin < a.size(); begin += kAtOnce) {
    bool differ = false;
    for (std::size_t k = begin; k < std::min(begin + kAtOnce, a.size()); ++k) differ |= a[k] != b[k];
    if (differ) return false;
  }
  return true;
}

}  // namespace nbcc
