// Numbers -> the scale of an axis. Interface: make_scale(), make_tight_scale().
#include "chart/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nbcc {
namespace {

constexpr int kIntervals = 6;               // between the ticks of a linear axis, about
constexpr int kMaxDecadesLabelled = 8;      // of a logarithmic axis; more have a label at every second or third decade
constexpr double kMinRelativeRange = 1e-9;  // shorter ranges are widened: the labels of their ticks would be equal

std::string superscript(int number) {
  static const char* const kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(number)) text += c == '-' ? "⁻" : kDigits[c - '0'];
  return text;
}

int exponent_of(double value) { return int(std::floor(std::log10(std::fabs(value)) + 1e-12)); }

// `value` with the digits that distinguish it from value + step.
std::string label_of(double value, double step) {
  if (value == 0) return "0";
  const int exponent = exponent_of(value), last = exponent_of(step);
  if (exponent >= -3 && exponent < 6) return fmt::format("{:.{}f}", value, std::max(0, -last));
  return fmt::format("{:.{}f}×10{}", value / std::pow(10.0, exponent), std::max(0, exponent - last),
                     superscript(exponent));
}

// The least of 1, 2 and 5 times a power of ten that is at least `step`.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const int factor : {1, 2, 5})
    if (step <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

ChartScale linear_scale(double least, double most) {
  const double magnitude = std::max(std::fabs(least), std::fabs(most));
  if (most - least <= std::max(kMinRelativeRange * magnitude, kMinChartNumber)) {
    const double margin = magnitude > kMinChartNumber ? 0.1 * magnitude : 1;
    least -= margin;
    most += margin;
  }
  const double step = round_step(most / kIntervals - least / kIntervals);
  const double first = std::floor(least / step + 1e-9), last = std::ceil(most / step - 1e-9);
  ChartScale scale{first * step, last * step, false, {}};
  for (double k = first; k <= last; ++k) scale.ticks.push_back({k * step, label_of(k * step, step)});
  return scale;
}

ChartScale logarithmic_scale(double least, double most) {
  if (most <= least * (1 + kMinRelativeRange)) {
    least /= 2;
    most *= 2;
  }
  if (most / least <= 3) {  // too few multiples of powers of ten
    ChartScale scale = linear_scale(least, most);
    scale.logarithmic = true;
    return scale;
  }
  const int first = exponent_of(least), last = exponent_of(most);
  const int decades = last - first;
  const int every = (decades + kMaxDecadesLabelled - 1) / kMaxDecadesLabelled;
  ChartScale scale{0, 0, true, {}};
  for (int decade = first; decade <= last + 1; ++decade) {
    for (int factor = 1; factor < 10; ++factor) {
      const double value = factor * std::pow(10.0, decade);
      const bool is_125 = factor == 1 || factor == 2 || factor == 5;
      const bool is_end = every > 1 ? factor == 1 : is_125;
      if (is_end && value <= least * (1 + 1e-9)) scale.low = value;
      if (is_end && scale.high == 0 && value >= most * (1 - 1e-9)) scale.high = value;
      const bool is_labelled = every > 1     ? factor == 1 && (decade - first) % every == 0
                               : decades > 2 ? factor == 1
                                             : is_125;
      if (is_labelled || every == 1) scale.ticks.push_back({value, is_labelled ? label_of(value, value) : ""});
    }
  }
  std::erase_if(scale.ticks, [&](const ChartTick& tick) { return tick.value < scale.low || tick.value > scale.high; });
  return scale;
}

}  // namespace

bool is_drawn(double value, bool logarithmic) {
  return std::fabs(value) <= kMaxChartNumber && (!logarithmic || value >= kMinChartNumber);
}

double ChartScale::fraction(double value) const {
  if (logarithmic) return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  return (value - low) / (high - low);
}

ChartScale make_scale(double least, double most, bool logarithmic) {
  return logarithmic ? logarithmic_scale(least, most) : linear_scale(least, most);
}

ChartScale make_tight_scale(double least, double most, bool logarithmic) {
  const ChartScale wide = make_scale(least, most, logarithmic);
  ChartScale tight{least, most, logarithmic, wide.ticks};
  std::erase_if(tight.ticks, [&](const ChartTick& tick) {
    const double fraction = tight.fraction(tick.value);
    return !(fraction >= -1e-9 && fraction <= 1 + 1e-9);
  });
  const auto labels = std::ranges::count_if(tight.ticks, [](const ChartTick& tick) { return !tick.label.empty(); });
  return labels < 2 ? wide : tight;
}

}  // namespace nbcc
