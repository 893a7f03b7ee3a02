// The part of a tree of j that another process needs for its i (a locally essential tree: Salmon & Warren 1992), cut
// where the grid of a cell may serve for all of its i:
//
//   own tree of j         essential tree for a process whose i are on the right
//         a                       a
//       /   \                   /   \                  b: a grid alone (FarCell::elsewhere)
//      b     c                 b     c                 d: a leaf with its particles
//     / \   / \                     / \                e: a grid alone
//   ..... d   e                    d   e
//
// Cells above need neither grids nor particles: the other process computes their weights from below. Tested by
// tests/unit/runtime/far/ranks/essential_tree_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/far/far_tree.h"
#include "runtime/far/far_walk.h"

namespace nbcc {

struct FarBox {
  std::array<double, 3> centre{}, half{};
};

struct EssentialTree {
  std::vector<FarCell> cells;       // parents before children; levels contiguous; particles by position in `order`
  std::vector<std::int32_t> grids;  // cells of the own tree whose grids are sent, in the order of `cells`
  std::vector<std::int32_t> order;  // positions in the own tree of the particles that are sent
  std::int64_t particles() const { return std::int64_t(order.size()); }
};

// Boxes of cells at the top of a tree, at most `most`, that contain all its particles; neighbours are near each other.
std::vector<FarBox> boxes_of(std::span<const FarCell> cells, std::size_t most);
// For i in the boxes, by the limits of walk(). No boxes: no cells. `images`: FarGridUse::images; then a cell has a grid
// alone if it is distant with each of these shifts:
//
//          b + s   +-------+        |         b: a cell of this process, which acts on the box at b, b + s, ...
//     b            |  box  |        |         the same as the boxes at box, box - s, ... of a cell at b
//                  +-------+        |
//   one period ---->|<--- s ------->|
EssentialTree essential_tree(std::span<const FarCell> cells, int axes, std::span<const FarBox> boxes,
                             const FarLimits& limits, std::span<const std::array<double, 3>> images = {});

}  // namespace nbcc
