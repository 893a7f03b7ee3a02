// Numbers of a far field that a caller may choose. Plain data.
#pragma once

namespace nbcc {

// The orders of grids among which runs choose.
inline constexpr int kMinFarOrder = 2, kMaxFarOrder = 13;

// For experiments: numbers that are otherwise chosen so that the tolerance is kept at the least cost. 0: chosen.
struct FarChoice {
  int order = 0;          // points along the longest side of a grid
  int leaf = 0;           // particles of a leaf, at most
  double separation = 0;  // largest ratio of a cell's radius to its distance
};

}  // namespace nbcc
