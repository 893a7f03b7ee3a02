// Entry point: rows_overlap(). Numbers (row, component) and (row + r, component + c) are r * stride + c *
// component_stride bytes apart; they overlap if that is less than the size of a number.
#include "runtime/sum/request/overlapping_rows.h"

#include <algorithm>
#include <cstdlib>

namespace nbcc {

bool rows_overlap(const ArrayView& view, int numbers) {
  const std::int64_t size = size_of(view.element), row = std::abs(view.stride),
                     column = std::abs(view.component_stride);
  if (view.count == 0) return false;
  if (view.count > 1 && row < size) return true;
  if (numbers > 1 && column < size) return true;
  if (view.count <= 1 || numbers <= 1) return false;
  // The common layouts: a row behind the other, or a component behind the other.
  if (row / numbers >= column || column / view.count >= row) return false;
  for (std::int64_t c = 1; c < numbers; ++c) {
    const std::int64_t between = c * column, below = std::min(between / row, view.count - 1);
    for (const std::int64_t r : {below, std::min(below + 1, view.count - 1)})
      if (std::abs(between - r * row) < size) return true;
  }
  return false;
}

}  // namespace nbcc
