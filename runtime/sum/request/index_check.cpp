// Turns ranges that lead outside of a table into a UsageError. Each device computes the ranges itself.
#include "runtime/sum/request/index_check.h"

#include <limits>
#include <optional>
#include <string>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

constexpr nbcc_index_range kEmpty{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
                                  -1, -1};
constexpr std::array<const char*, kIndexSides> kSideNames{"i-particle", "j-particle", "listed pair"};

std::string text_of(__int128 index) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (index < Limits::min()) return fmt::format("below {}", Limits::min());
  if (index > Limits::max()) return fmt::format("above {}", Limits::max());
  return std::to_string(std::int64_t(index));
}

}  // namespace

void throw_index_out_of_range(const KernelSource& source, const IndexOutOfRange& beyond) {
  const IndexCheck& check = source.index_checks.checks[beyond.check];
  __int128 index = 0;
  int sides = 0;
  for (std::size_t side = 0; side < kIndexSides; ++side) {
    index += beyond.value[side];
    sides += check.parts[side].range >= 0;
  }
  std::string who;
  for (std::size_t side = 0; side < kIndexSides; ++side) {
    if (check.parts[side].range < 0 || beyond.particle[side] < 0) continue;
    who += fmt::format("{}{} {}", who.empty() ? " for " : " and ", kSideNames[side], beyond.particle[side]);
    if (sides > 1) who += fmt::format(" ({} = {})", check.parts[side].text, beyond.value[side]);
  }
  const char* const things = check.dimension == 1 ? "rows" : check.dimension == 2 ? "columns" : "elements";
  throw UsageError(fmt::format(
      "{} is {}{}, but table '{}' of pipeline '{}' (line {}) has {} {}, 0 to {}; to read the nearest end instead, set "
      "the run's option clamp",
      check.index, text_of(index), who, check.table, source.pipeline, check.line, check.count, things,
      check.count - 1));
}

IndexRanges::IndexRanges(const IndexChecks& checks) {
  for (std::size_t side = 0; side < kIndexSides; ++side) ranges_[side].assign(std::size_t(checks.ranges[side]), kEmpty);
}

void IndexRanges::reset(std::size_t side) { ranges_[side].assign(ranges_[side].size(), kEmpty); }

void IndexRanges::widen(std::size_t side, std::span<const nbcc_index_range> chunk,
                        const std::function<std::int64_t(std::int64_t)>& number_of) {
  for (std::size_t k = 0; k < chunk.size(); ++k) {
    nbcc_index_range& all = ranges_[side][k];
    const nbcc_index_range& one = chunk[k];
    if (one.least > one.greatest) continue;
    // Of equal values the particle with the lowest number is named, so that the message does not depend on threads.
    const std::int64_t at_least = number_of(one.at_least), at_greatest = number_of(one.at_greatest);
    if (one.least < all.least || (one.least == all.least && at_least < all.at_least))
      all.least = one.least, all.at_least = at_least;
    if (one.greatest > all.greatest || (one.greatest == all.greatest && at_greatest < all.at_greatest))
      all.greatest = one.greatest, all.at_greatest = at_greatest;
  }
}

void IndexRanges::check(const KernelSource& source, bool params_by_group) const {
  const std::vector<IndexCheck>& checks = source.index_checks.checks;
  for (std::size_t k = 0; k < checks.size(); ++k) {
    if (checks[k].uses_params && params_by_group) continue;
    for (const bool least : {true, false}) {
      IndexOutOfRange beyond{k, {}, {-1, -1, -1}};
      __int128 index = 0;  // a sum of 64-bit numbers
      bool any = true;
      for (std::size_t side = 0; side < kIndexSides; ++side) {
        if (checks[k].parts[side].range < 0) continue;
        const nbcc_index_range& range = ranges_[side][std::size_t(checks[k].parts[side].range)];
        any = any && range.least <= range.greatest;
        if (!any) break;
        const std::int64_t at = least ? range.at_least : range.at_greatest;
        beyond.value[side] = least ? range.least : range.greatest;
        beyond.particle[side] = at;
        index += beyond.value[side];
      }
      if (any && (least ? index < 0 : index >= checks[k].count)) throw_index_out_of_range(source, beyond);
    }
  }
}

}  // namespace nbcc
