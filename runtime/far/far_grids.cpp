// Tensor products of Chebyshev interpolation. Point (x, y, z) of a grid is number x + q (y + q z).
#include "runtime/far/far_grids.h"

#include <algorithm>

namespace nbcc {

FarGrids::FarGrids(const FarTree& tree, int order) : tree_(tree), chebyshev_(order) {
  for (int axis = 0; axis < tree.axes(); ++axis) along_[std::size_t(axis)] = order;
  points_ = along_[0] * along_[1] * along_[2];
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
    std::int64_t point = first_point(k);
    for (int z = 0; z < along_[2]; ++z)
      for (int y = 0; y < along_[1]; ++y)
        for (int x = 0; x < along_[0]; ++x, ++point) {
          const std::array<int, 3> number{x, y, z};
          for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
            coordinates[axis][std::size_t(point)] =
                cell.centre[axis] + cell.half[axis] * chebyshev_.point(number[axis]);
        }
  });
}

template <int order>
void FarGrids::basis_at(const FarCell& cell, std::int64_t particle, Basis& basis) const {
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = std::size_t(axis);
    basis.axis[a][0] = 1;
    if (axis >= tree_.axes()) continue;
    const double x = (tree_.coordinates(axis)[std::size_t(particle)] - cell.centre[a]) / cell.half[a];
    chebyshev_.evaluate<order>(x, basis.axis[a].data());
  }
}

template <int order>
void FarGrids::transfer(const FarCell& parent, const FarCell& child, Transfer& transfer) const {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    transfer.axis[axis][0][0] = 1;
    for (int k = 0; k < along_[axis] && axis < std::size_t(tree_.axes()); ++k) {
      const double x =
          (child.centre[axis] + child.half[axis] * chebyshev_.point(k) - parent.centre[axis]) / parent.half[axis];
      chebyshev_.evaluate<order>(x, transfer.axis[axis][std::size_t(k)].data());
    }
  }
}

// Up: adds the weights of the child to the weights of the parent. Down: adds the sums of the parent to the sums of the
// child. Axis by axis.
template <bool up>
void FarGrids::apply(const Transfer& transfer, const double* from, double* to) const {
  constexpr int kMost = Chebyshev::kMaxOrder * Chebyshev::kMaxOrder * Chebyshev::kMaxOrder;
  std::array<double, kMost> first, second;
  const int qx = along_[0], qy = along_[1], qz = along_[2];
  const auto factor = [&](std::size_t axis, int result, int source) {
    return up ? transfer.axis[axis][std::size_t(source)][std::size_t(result)]
              : transfer.axis[axis][std::size_t(result)][std::size_t(source)];
  };
  for (int zy = 0; zy < qz * qy; ++zy)
    for (int x = 0; x < qx; ++x) {
      double sum = 0;
      for (int s = 0; s < qx; ++s) sum += factor(0, x, s) * from[zy * qx + s];
      first[std::size_t(zy * qx + x)] = sum;
    }
  std::fill_n(second.begin(), points_, 0.0);
  for (int z = 0; z < qz; ++z)
    for (int y = 0; y < qy; ++y)
      for (int s = 0; s < qy; ++s) {
        const double f = factor(1, y, s);
        for (int x = 0; x < qx; ++x)
          second[std::size_t((z * qy + y) * qx + x)] += f * first[std::size_t((z * qy + s) * qx + x)];
      }
  for (int z = 0; z < qz; ++z)
    for (int s = 0; s < qz; ++s) {
      const double f = factor(2, z, s);
      for (int yx = 0; yx < qy * qx; ++yx) to[z * qy * qx + yx] += f * second[std::size_t(s * qy * qx + yx)];
    }
}

template <int order>
void FarGrids::up_from_particles(const FarCell& cell, std::span<const std::span<double>> values,
                                 std::int64_t first) const {
  Basis basis{};  // GCC 14 does not see that basis_at() sets the elements that are read
  for (std::int32_t p = cell.begin; p < cell.end; ++p) {
    basis_at<order>(cell, p, basis);
    for (const std::span<double>& value : values) {
      double* grid = value.data() + first;
      for (int z = 0; z < along_[2]; ++z) {
        const double of_z = value[std::size_t(p)] * basis.axis[2][std::size_t(z)];
        for (int y = 0; y < along_[1]; ++y, grid += order) {
          const double of_y = of_z * basis.axis[1][std::size_t(y)];
          for (int x = 0; x < order; ++x) grid[x] += of_y * basis.axis[0][std::size_t(x)];
        }
      }
    }
  }
}

template <int order>
void FarGrids::down_to_particles(const FarCell& cell, std::span<const std::span<double>> sums,
                                 std::int64_t first) const {
  Basis basis{};
  for (std::int32_t p = cell.begin; p < cell.end; ++p) {
    basis_at<order>(cell, p, basis);
    for (const std::span<double>& sum : sums) {
      const double* grid = sum.data() + first;
      std::array<double, order> along_x{};
      for (int z = 0; z < along_[2]; ++z)
        for (int y = 0; y < along_[1]; ++y, grid += order) {
          const double of_y = basis.axis[2][std::size_t(z)] * basis.axis[1][std::size_t(y)];
          for (int x = 0; x < order; ++x) along_x[std::size_t(x)] += of_y * grid[x];
        }
      double total = 0;
      for (int x = 0; x < order; ++x) total += along_x[std::size_t(x)] * basis.axis[0][std::size_t(x)];
      sum[std::size_t(p)] += total;
    }
  }
}

void FarGrids::go_up(std::span<const std::span<double>> values, const ForEach& for_each,
                     std::span<const char> wanted) const {
  const std::span<const std::int32_t> levels = tree_.level_first();
  with_order(chebyshev_.order(), [&]<int order>() {
    for (std::size_t level = levels.size() - 1; level-- > 0;) {
      on_cells(levels[level], levels[level + 1], for_each, [&](std::int32_t k, const FarCell& cell) {
        if (cell.has_grid_alone() || (!wanted.empty() && wanted[std::size_t(k)] == 0)) return;
        for (const std::span<double>& value : values) std::fill_n(value.begin() + first_point(k), points_, 0.0);
        if (cell.is_leaf()) return up_from_particles<order>(cell, values, first_point(k));
        for (std::int32_t child = cell.child; child < cell.child + 2; ++child) {
          Transfer step;
          transfer<order>(cell, tree_.cells()[std::size_t(child)], step);
          for (const std::span<double>& value : values)
            apply<true>(step, value.data() + first_point(child), value.data() + first_point(k));
        }
      });
    }
  });
}

void FarGrids::go_down(std::span<const std::span<double>> sums, std::span<const char> wanted,
                       const ForEach& for_each) const {
  const std::span<const std::int32_t> levels = tree_.level_first();
  with_order(chebyshev_.order(), [&]<int order>() {
    for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
      on_cells(levels[level], levels[level + 1], for_each, [&](std::int32_t k, const FarCell& cell) {
        if (!wanted.empty() && wanted[std::size_t(k)] == 0) return;
        if (cell.is_leaf()) return down_to_particles<order>(cell, sums, first_point(k));
        for (std::int32_t child = cell.child; child < cell.child + 2; ++child) {
          Transfer step;
          transfer<order>(cell, tree_.cells()[std::size_t(child)], step);
          for (const std::span<double>& sum : sums)
            apply<false>(step, sum.data() + first_point(k), sum.data() + first_point(child));
        }
      });
    }
  });
}

}  // namespace nbcc
