// What the pair method "nearest" has to know of its kernels besides their sources. Plain data.
#pragma once
#include <string_view>

#include "compiler/derived_kernels.h"

namespace nbcc {

// SearchLayout::bound of pipelines that look for nearest neighbours.
inline constexpr std::string_view kNearestBound = "of each i the nearest";

struct NearestFacts : DerivedFacts {
  int axes = 3;  // of the distance by which j are compared; a search bounds at most three of them
};

}  // namespace nbcc
