// Rows of numbers: their least and largest values, and whether two rows are equal; several numbers at a time.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

namespace nbcc {

struct RowRange {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool is_finite = true;  // no value is NaN or infinite
};
// Of the values [begin, end) of a row.
RowRange range_of(const double* row, std::int64_t begin, std::int64_t end);

// False if any value is NaN.
bool are_equal(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace nbcc
