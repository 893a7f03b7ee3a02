// Two trees -> the lists of a far field: which cells act on which, by particles or by grids.
// Tested by tests/unit/far_tree_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/far/far_tree.h"

namespace nbcc {

// The cells that act on a cell. A cell of i receives by its particles or by its grid, a cell of j acts by its particles
// or by its grid.
enum class FarKind : std::uint8_t { ParticlesOnParticles, GridOnParticles, ParticlesOnGrid, GridOnGrid };
constexpr int kFarKinds = 4;

struct FarEntry {
  std::int32_t of_i = 0, of_j = 0;  // cells
  FarKind kind = FarKind::ParticlesOnParticles;
};

struct FarWalk {
  std::vector<FarEntry> entries;          // sorted by cell of i
  std::array<double, kFarKinds> pairs{};  // by kind
  double all_pairs() const { return pairs[0] + pairs[1] + pairs[2] + pairs[3]; }
};

// How far cells must be apart for their grids to serve.
struct FarSeparation {
  int grid = 0;                        // points of a grid
  bool both_sides = true;              // i have grids as well
  std::span<const double> of_i, of_j;  // by cell: the largest ratio of its radius to the distance; 0: no grid
};

// Distances are from a cell's centre to the other cell's box, because a grid is evaluated at every point of the box.
// counts_only: leaves the entries empty.
FarWalk walk(std::span<const FarCell> of_i, std::span<const FarCell> of_j, int axes, const FarSeparation& separation,
             bool counts_only, const ForEach& for_each);

}  // namespace nbcc
