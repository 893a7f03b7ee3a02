// Parses numbers of the command line. The entry points are declared in the header.
#include "particles/numbers.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "runtime/error.h"

namespace nbcc {
namespace {
constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53: a double cannot represent every integer beyond
}  // namespace

std::optional<double> parse_double(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  for (std::size_t end; (end = text.find(separator)) != std::string_view::npos; text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

std::int64_t parse_count(std::string_view text, std::string_view what) {
  const std::optional<double> value = parse_double(text);
  if (!value || !(*value >= 0 && *value <= kMaxExactInteger) || *value != std::floor(*value)) {
    throw UsageError(fmt::format("{}: '{}' is not a whole number, 0 or more (as 16384 or 1e6)", what, text));
  }
  return std::int64_t(*value);
}

std::vector<std::int64_t> parse_counts(std::string_view text, std::string_view what) {
  std::vector<std::int64_t> counts;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dots = part.find("..");
    const std::int64_t first = parse_count(part.substr(0, dots), what);
    const std::int64_t last = dots == std::string_view::npos ? first : parse_count(part.substr(dots + 2), what);
    if (first < 1) throw UsageError(fmt::format("{}: '{}' must be at least 1", what, part));
    if (last < first) throw UsageError(fmt::format("{}: the range '{}' ends before it begins", what, part));
    for (std::int64_t n = first; n <= last; n *= 2) counts.push_back(n);
  }
  if (counts.empty()) throw UsageError(fmt::format("{}: no number is given", what));
  return counts;
}

}  // namespace nbcc
