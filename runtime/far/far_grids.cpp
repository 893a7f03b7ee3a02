// Tensor products of Chebyshev interpolation. Point (x, y, z) of a grid with qx, qy, qz points is number
// x + qx (y + qy z).
#include "runtime/far/far_grids.h"

#include <algorithm>
#include <cmath>

namespace nbcc {

std::array<int, 3> points_along(FarShape shape, int order, const FarCell& cell, int axes) {
  std::array<int, 3> along{1, 1, 1};
  double longest = 0;
  for (std::size_t axis = 0; axis < std::size_t(axes); ++axis) longest = std::max(longest, cell.half[axis]);
  // The logarithm of the factor by which each point reduces the error.
  const auto gain = [](double distance) { return std::acosh(distance); };
  constexpr double kDistance = 4, kRoundUp = 0.8;
  // With order 5, one point fewer cost 1.2 times as many pairs of a Plummer sphere at the same error.
  constexpr int kLeastOrder = 6;
  for (std::size_t axis = 0; axis < std::size_t(axes); ++axis) {
    along[axis] = order;
    const bool has_extent = cell.half[axis] > 1e-12 * longest;
    if (shape == FarShape::Cube || (order < kLeastOrder && has_extent) || !(cell.half[axis] < longest)) continue;
    const double wanted = order * gain(kDistance) / gain(kDistance * longest / cell.half[axis]);
    along[axis] = std::clamp(int(wanted + kRoundUp), 1, order);
  }
  return along;
}

FarGrids::FarGrids(const FarTree& tree, int order, FarShape shape) : tree_(tree) {
  for (int k = 1; k <= order; ++k) chebyshev_.emplace_back(k);
  const std::span<const FarCell> cells = tree.cells();
  along_.reserve(cells.size());
  first_.reserve(cells.size() + 1);
  first_.push_back(tree.count());
  for (const FarCell& cell : cells) {
    const Along& along = along_.emplace_back(points_along(shape, order, cell, tree.axes()));
    first_.push_back(first_.back() + along[0] * along[1] * along[2]);
  }
}

std::vector<std::int32_t> FarGrids::points_of_cells() const {
  std::vector<std::int32_t> points(along_.size());
  for (std::size_t k = 0; k < points.size(); ++k) points[k] = points_of(std::int64_t(k));
  return points;
}

template <typename Body>
void FarGrids::on_cells(std::int32_t first, std::int32_t last, const ForEach& for_each, const Body& body) const {
  constexpr std::int32_t kCells = 16;
  for_each((last - first + kCells - 1) / kCells, [&](std::int64_t item) {
    const std::int32_t end = std::min(last, first + std::int32_t(item + 1) * kCells);
    for (std::int32_t k = first + std::int32_t(item) * kCells; k < end; ++k) body(k, tree_.cells()[std::size_t(k)]);
  });
}

void FarGrids::locate(std::span<const std::span<double>> coordinates, const ForEach& for_each) const {
  for (int axis = 0; axis < tree_.axes(); ++axis)
    std::ranges::copy(tree_.coordinates(axis), coordinates[std::size_t(axis)].begin());
  on_cells(0, std::int32_t(tree_.cells().size()), for_each, [&](std::int32_t k, const FarCell& cell) {
    const Along& along = along_[std::size_t(k)];
    std::int64_t point = first_point(k);
    for (int z = 0; z < along[2]; ++z)
      for (int y = 0; y < along[1]; ++y)
        for (int x = 0; x < along[0]; ++x, ++point) {
          const std::array<int, 3> number{x, y, z};
          for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
            coordinates[axis][std::size_t(point)] =
                cell.centre[axis] + cell.half[axis] * chebyshev_[std::size_t(along[axis]) - 1].point(number[axis]);
        }
  });
}

void FarGrids::evaluate(int order, double x, double* values) const {
  const Chebyshev& chebyshev = chebyshev_[std::size_t(order) - 1];
  with_order(order, [&]<int q>() { chebyshev.evaluate<q>(x, values); });
}

void FarGrids::basis_at(const FarCell& cell, const Along& along, std::int64_t particle, Basis& basis) const {
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = std::size_t(axis);
    basis.axis[a][0] = 1;
    if (axis >= tree_.axes()) continue;
    evaluate(along[a], (tree_.coordinates(axis)[std::size_t(particle)] - cell.centre[a]) / cell.half[a],
             basis.axis[a].data());
  }
}

void FarGrids::transfer(std::int32_t of_parent, std::int32_t of_child, Transfer& transfer) const {
  const FarCell &parent = tree_.cells()[std::size_t(of_parent)], &child = tree_.cells()[std::size_t(of_child)];
  const Along &polynomials = along_[std::size_t(of_parent)], &points = along_[std::size_t(of_child)];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    transfer.axis[axis][0][0] = 1;
    if (axis >= std::size_t(tree_.axes())) continue;
    const Chebyshev& chebyshev = chebyshev_[std::size_t(points[axis]) - 1];
    for (int k = 0; k < points[axis]; ++k)
      evaluate(polynomials[axis],
               (child.centre[axis] + child.half[axis] * chebyshev.point(k) - parent.centre[axis]) / parent.half[axis],
               transfer.axis[axis][std::size_t(k)].data());
  }
}

// Up: adds the weights of the child to the weights of the parent. Down: adds the sums of the parent to the sums of the
// child. Axis by axis.
template <bool up>
void FarGrids::apply(const Transfer& transfer, const Along& of_from, const double* from, const Along& of_to,
                     double* to) const {
  constexpr int kMost = Chebyshev::kMaxOrder * Chebyshev::kMaxOrder * Chebyshev::kMaxOrder;
  std::array<double, kMost> first, second;
  const auto [fx, fy, fz] = of_from;
  const auto [tx, ty, tz] = of_to;
  const auto factor = [&](std::size_t axis, int result, int source) {
    return up ? transfer.axis[axis][std::size_t(source)][std::size_t(result)]
              : transfer.axis[axis][std::size_t(result)][std::size_t(source)];
  };
  for (int zy = 0; zy < fz * fy; ++zy)
    for (int x = 0; x < tx; ++x) {
      double sum = 0;
      for (int s = 0; s < fx; ++s) sum += factor(0, x, s) * from[zy * fx + s];
      first[std::size_t(zy * tx + x)] = sum;
    }
  std::fill_n(second.begin(), fz * ty * tx, 0.0);
  for (int z = 0; z < fz; ++z)
    for (int y = 0; y < ty; ++y)
      for (int s = 0; s < fy; ++s) {
        const double f = factor(1, y, s);
        for (int x = 0; x < tx; ++x)
          second[std::size_t((z * ty + y) * tx + x)] += f * first[std::size_t((z * fy + s) * tx + x)];
      }
  for (int z = 0; z < tz; ++z)
    for (int s = 0; s < fz; ++s) {
      const double f = factor(2, z, s);
      for (int yx = 0; yx < ty * tx; ++yx) to[z * ty * tx + yx] += f * second[std::size_t(s * ty * tx + yx)];
    }
}

template <int order_of_x>
void FarGrids::up_from_particles(std::int32_t k, std::span<const std::span<double>> values) const {
  const FarCell& cell = tree_.cells()[std::size_t(k)];
  const Along along = along_[std::size_t(k)];
  Basis basis{};  // GCC 14 does not see that basis_at() sets the elements that are read
  for (std::int32_t p = cell.begin; p < cell.end; ++p) {
    basis_at(cell, along, p, basis);
    for (const std::span<double>& value : values) {
      double* grid = value.data() + first_point(k);
      for (int z = 0; z < along[2]; ++z) {
        const double of_z = value[std::size_t(p)] * basis.axis[2][std::size_t(z)];
        for (int y = 0; y < along[1]; ++y, grid += order_of_x) {
          const double of_y = of_z * basis.axis[1][std::size_t(y)];
          for (int x = 0; x < order_of_x; ++x) grid[x] += of_y * basis.axis[0][std::size_t(x)];
        }
      }
    }
  }
}

template <int order_of_x>
void FarGrids::down_to_particles(std::int32_t k, std::span<const std::span<double>> sums) const {
  const FarCell& cell = tree_.cells()[std::size_t(k)];
  const Along along = along_[std::size_t(k)];
  Basis basis{};
  for (std::int32_t p = cell.begin; p < cell.end; ++p) {
    basis_at(cell, along, p, basis);
    for (const std::span<double>& sum : sums) {
      const double* grid = sum.data() + first_point(k);
      std::array<double, order_of_x> along_x{};
      for (int z = 0; z < along[2]; ++z)
        for (int y = 0; y < along[1]; ++y, grid += order_of_x) {
          const double of_y = basis.axis[2][std::size_t(z)] * basis.axis[1][std::size_t(y)];
          for (int x = 0; x < order_of_x; ++x) along_x[std::size_t(x)] += of_y * grid[x];
        }
      double total = 0;
      for (int x = 0; x < order_of_x; ++x) total += along_x[std::size_t(x)] * basis.axis[0][std::size_t(x)];
      sum[std::size_t(p)] += total;
    }
  }
}

void FarGrids::go_up(std::span<const std::span<double>> values, const ForEach& for_each,
                     std::span<const char> wanted) const {
  const std::span<const std::int32_t> levels = tree_.level_first();
  for (std::size_t level = levels.size() - 1; level-- > 0;) {
    on_cells(levels[level], levels[level + 1], for_each, [&](std::int32_t k, const FarCell& cell) {
      if (cell.has_grid_alone() || (!wanted.empty() && wanted[std::size_t(k)] == 0)) return;
      const Along& along = along_[std::size_t(k)];
      for (const std::span<double>& value : values) std::fill_n(value.begin() + first_point(k), points_of(k), 0.0);
      if (cell.is_leaf()) return with_order(along[0], [&]<int q>() { up_from_particles<q>(k, values); });
      for (std::int32_t child = cell.child; child < cell.child + 2; ++child) {
        Transfer step;
        transfer(k, child, step);
        for (const std::span<double>& value : values)
          apply<true>(step, along_[std::size_t(child)], value.data() + first_point(child), along,
                      value.data() + first_point(k));
      }
    });
  }
}

void FarGrids::go_down(std::span<const std::span<double>> sums, std::span<const char> wanted,
                       const ForEach& for_each) const {
  const std::span<const std::int32_t> levels = tree_.level_first();
  for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
    on_cells(levels[level], levels[level + 1], for_each, [&](std::int32_t k, const FarCell& cell) {
      if (!wanted.empty() && wanted[std::size_t(k)] == 0) return;
      const Along& along = along_[std::size_t(k)];
      if (cell.is_leaf()) return with_order(along[0], [&]<int q>() { down_to_particles<q>(k, sums); });
      for (std::int32_t child = cell.child; child < cell.child + 2; ++child) {
        Transfer step;
        transfer(k, child, step);
        for (const std::span<double>& sum : sums)
          apply<false>(step, along, sum.data() + first_point(k), along_[std::size_t(child)],
                       sum.data() + first_point(child));
      }
    });
  }
}

}  // namespace nbcc
