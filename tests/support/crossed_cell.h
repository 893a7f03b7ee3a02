// A cell of the table of capabilities, and a random run for it (crossed_run.h).
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/sum/plan/capabilities.h"

namespace nbcc::test {

using Cell = std::pair<std::string_view, Feature>;  // a row's name, a column

struct CrossedRun {
  std::string_view row;
  Feature aim{};
  std::uint64_t seed = 0, number = 0;  // `number`: of the text
  std::set<Feature> features{};        // `aim` among them
  std::int64_t ni = 0, nj = 0;
  bool one_set = false;
  bool others = true;  // options that are no features: launch configurations, kept j, runs again
  bool has(Feature feature) const { return features.contains(feature); }
  std::string text() const {
    std::string all;
    for (const Feature feature : features)
      all += (all.empty() ? "" : ", ") + std::string(nbcc::features()[std::size_t(feature)].name);
    return fmt::format("NBCC_DRAW='{}:{}:{}': {} with {}; {} x {}{}", row, std::size_t(aim), seed, row, all, ni, nj,
                       one_set ? ", one set" : "");
  }
};

}  // namespace nbcc::test
