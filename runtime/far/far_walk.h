// Two trees -> the lists of a far field: which cells act on which, by particles or by grids.
// Tested by tests/unit/runtime/far/far_tree_test.cpp.
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
  std::int32_t image = 0;           // of the cell of j: its shift
  FarKind kind = FarKind::ParticlesOnParticles;
};

struct FarWalk {
  std::vector<FarEntry> entries;          // sorted by cell of i
  std::array<double, kFarKinds> pairs{};  // by kind
  std::int64_t settled = 0;               // pairs of cells
  double all_pairs() const { return pairs[0] + pairs[1] + pairs[2] + pairs[3]; }
};

// When a grid may serve for a cell. Of the terms of an i, a cell with many j has the larger share, so that a grid must
// be the more exact the more j act through it, be it the grid of the i or of the j.
struct FarLimits {
  static constexpr int kRatios = 40, kFirst = 2;
  // [k]: the most j that may act through a grid whose cell's radius is up to k / kRatios of the distance. Ratios below
  // kFirst count as kFirst; larger than the last: none.
  using Row = std::array<float, kRatios>;
  int first_size = 0;            // FarCell::size
  std::vector<Row> rows;         // by size
  double largest_ratio() const;  // at which a grid may serve
};

// The numbers that are chosen for a run.
struct FarSetting {
  int order = 0;          // points along the longest side of a grid, on a GPU along each axis
  int leaf = 0;           // particles of a leaf, at most
  double limit = 0;       // of the relative error of interpolating a term, by which cells are judged to be distant
  double separation = 0;  // in place of the limit: the largest ratio of a cell's radius to its distance; 0: none
  bool operator==(const FarSetting&) const = default;
};

struct FarGridUse {
  std::span<const std::int32_t> points_of_i, points_of_j;  // [cell]: the points of its grid
  bool both_sides = true;                                  // i have grids as well
  // Shifts of a periodic sum, added to the positions of j: the j act with each shift. Empty: there is one shift, 0.
  std::span<const std::array<double, 3>> images = {};
  std::span<const std::int32_t> roots_of_j = {};  // cells; empty: the first cell is the root
  // Coordinates of distant pairs are relative to an i of their group, in single precision: no grid acts on the
  // particles of a leaf that is large beside its distance, because an i on its other side would lose digits of a short
  // distance.
  bool relative = false;
};

// Distances are from a cell's centre to the other cell's box, because a grid is evaluated at every point of the box.
// counts_only: leaves the entries empty.
FarWalk walk(std::span<const FarCell> of_i, std::span<const FarCell> of_j, int axes, const FarGridUse& use,
             const FarLimits& limits, bool counts_only, const ForEach& for_each);

}  // namespace nbcc
