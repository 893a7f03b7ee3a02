// The range of some numbers -> the scale of an axis: its ends, ticks and their labels. Tested by
// tests/unit/chart/chart_test.cpp.
#pragma once
#include <string>
#include <vector>

namespace nbcc {

struct ChartTick {
  double value = 0;
  std::string label;  // UTF-8, such as "2×10⁹"; empty for a minor tick
};

struct ChartScale {
  double low = 0, high = 1;  // the ends of the axis
  bool logarithmic = false;
  std::vector<ChartTick> ticks;  // ascending, within the ends

  // The position of a value on the axis: 0 at `low`, 1 at `high`.
  double fraction(double value) const;
};

// Numbers beyond are not shown, because their ticks would overflow or underflow.
constexpr double kMaxChartNumber = 1e300, kMinChartNumber = 1e-300;
bool is_drawn(double value, bool logarithmic);

// A scale that covers least..most, in this order, of absolute values up to kMaxChartNumber; on a logarithmic axis from
// kMinChartNumber. Ticks are at multiples of 1, 2 or 5 times a power of ten.
ChartScale make_scale(double least, double most, bool logarithmic);

// The same, but it ends at least and most instead of at ticks, unless fewer than two labels would remain.
ChartScale make_tight_scale(double least, double most, bool logarithmic);

}  // namespace nbcc
