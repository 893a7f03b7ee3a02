// Packed columns -> positions, trees, and the j of each group. Interface: CpuSearch. Sums nothing and stores no result.
#include "runtime/cpu/cpu_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/periodic_length.h"
#include "runtime/cpu/partition.h"
#include "runtime/cpu/row_range.h"

namespace nbcc {
namespace {

constexpr std::int64_t kLocatedPerChunk = 4096;  // particles that a thread locates at a time

// A bound of the relative error of a distance in the kernel: larger than the error of an unrefined root estimate.
constexpr double kRelativeError = 0x1p-10;
// of_size: a bound of the error of a distance caused by rounding of coordinates and images in the kernel's precision,
// relative to the largest coordinates. underflow: the largest distance whose square underflows.
struct Rounding {
  double of_size, underflow;
};
Rounding rounding_of(const KernelSource& source) {
  const bool single =
      std::ranges::any_of(source.columns.i, [](const Column& column) { return column.element == Element::Float; });
  return single ? Rounding{0x1p-20, 0x1p-62} : Rounding{0x1p-48, 0x1p-510};
}
// The k-th sample out of `count` particles. Golden-ratio sampling, so that the samples have no common period with the
// order of a lattice.
std::int64_t drawn(int k, std::int64_t count) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double at = (k + 0.5) * kGoldenRatio;
  return std::min(count - 1, std::int64_t((at - std::floor(at)) * double(count)));
}

}  // namespace

CpuSearch::CpuSearch(const KernelSource& source, const CpuCode& code)
    : source_(source), code_(code), sorted_j_(source, Role::InputJ) {}

bool CpuSearch::locate_side(nbcc_locate_function locate, const nbcc_kernel_arguments& given, std::int64_t count,
                            const ForEach& for_each, Located& side) {
  const std::int64_t rows = source_.search.axes + 1, chunks = ceil_div(count, kLocatedPerChunk);
  side.count = count;
  side.values.resize(std::size_t(rows * count));
  side.non_finite.assign(std::size_t(count), 0);
  side.rows.clear();
  side.low = side.high = {};
  for (std::int64_t row = 0; row < rows; ++row) side.rows.push_back(side.values.data() + row * count);
  std::vector<Extent> extents(static_cast<std::size_t>(chunks));
  for_each(chunks, [&](std::int64_t chunk) {
    const std::int64_t begin = chunk * kLocatedPerChunk, end = std::min(begin + kLocatedPerChunk, count);
    locate(&given, begin, end, side.rows.data());
    extents[std::size_t(chunk)] = side.replace_non_finite(begin, end);
  });
  if (chunks == 0) return true;
  const auto first_finite = std::ranges::find(extents, true, &Extent::is_set);
  if (first_finite == extents.end()) return false;
  const Extent any = *first_finite;
  side.low = any.low;
  side.high = any.high;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const Extent& extent = extents[std::size_t(chunk)];
    for (std::size_t axis = 0; axis + 1 < side.rows.size(); ++axis) {
      side.low[axis] = std::min(side.low[axis], extent.is_set ? extent.low[axis] : any.low[axis]);
      side.high[axis] = std::max(side.high[axis], extent.is_set ? extent.high[axis] : any.high[axis]);
      for (std::int64_t k = chunk * kLocatedPerChunk;
           !extent.is_set && k < std::min((chunk + 1) * kLocatedPerChunk, count); ++k) {
        side.rows[axis][k] = any.low[axis];
        side.non_finite[std::size_t(k)] = 1;
      }
    }
  }
  return true;
}

// Returns the extent of the particles [begin, end). The pipeline's guards reject pairs with a non-finite position, so
// such a position may be replaced by any other: it gets the position of the last finite particle before it, or of the
// first finite one.
CpuSearch::Extent CpuSearch::Located::replace_non_finite(std::int64_t begin, std::int64_t end) {
  const auto axes = std::span(rows).first(rows.size() - 1);
  const auto is_finite = [&](std::int64_t k) {
    return std::ranges::all_of(axes, [k](const double* row) { return std::isfinite(row[k]); });
  };
  std::array<RowRange, kMaxAxes> ranges;
  bool all_finite = true;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    ranges[axis] = range_of(axes[axis], begin, end);
    all_finite &= ranges[axis].is_finite;
  }
  Extent extent;
  std::int64_t last_finite = begin;
  while (!all_finite && last_finite < end && !is_finite(last_finite)) ++last_finite;
  extent.is_set = last_finite < end;
  if (!extent.is_set) return extent;
  for (std::int64_t k = begin; k < end && !all_finite; ++k) {
    non_finite[std::size_t(k)] = !is_finite(k);
    if (!non_finite[std::size_t(k)]) last_finite = k;
    for (double* row : axes) row[k] = row[last_finite];
  }
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (!all_finite) ranges[axis] = range_of(axes[axis], begin, end);
    extent.low[axis] = ranges[axis].low;
    extent.high[axis] = ranges[axis].high;
  }
  return extent;
}

bool CpuSearch::locate(const nbcc_kernel_arguments& given, std::int64_t ni, std::int64_t nj, const ForEach& for_each) {
  const SearchLayout& layout = source_.search;
  if (!code_.extent || std::max(ni, nj) > std::numeric_limits<int>::max()) return false;
  if (!locate_side(code_.locate_i, given, ni, for_each, i_) || !locate_side(code_.locate_j, given, nj, for_each, j_))
    return false;
  std::array<double, kMaxAxes + 1 + 9> extent{};  // see nbcc_extent_function
  code_.extent(&given, extent.data());
  space_ = {};
  space_.axes = layout.axes;
  space_.kind = layout.reach;
  space_.uniform = extent[std::size_t(layout.axes)];
  if (std::isnan(space_.uniform)) return false;
  double widest = 0;
  for (std::size_t axis = 0; axis < std::size_t(layout.axes); ++axis) {
    const double across = std::max(i_.high[axis], j_.high[axis]) - std::min(i_.low[axis], j_.low[axis]);
    const double length = layout.periodic[axis] ? std::fabs(extent[axis]) : 0;
    if (std::isnan(length)) return false;
    // If no pair is farther apart than half of the length, the minimum image is always the pair itself.
    space_.set_length(axis, is_open(length) || length > 2.1 * across ? 0 : length);
    widest = std::max(widest, across);
  }
  if (has_half_lists()) share_reaches();
  is_one_set_ = layout.of_i() == layout.of_j() && are_equal(i_.values, j_.values);
  const Rounding rounding = rounding_of(source_);
  space_.relative = kRelativeError;
  space_.of_size = rounding.of_size;
  space_.absolute = rounding.underflow;
  if (layout.triclinic) {
    std::array<Vector3, 3> basis{};
    for (std::size_t k = 0; k < 9; ++k) basis[k / 3][k % 3] = extent[kMaxAxes + 1 + k];
    const SearchCell cell(basis, widest * std::sqrt(kMaxAxes));
    if (!cell.is_valid()) return false;
    space_.set_cell(cell);
    space_.of_size *= 4;  // images in a triclinic cell take more rounded operations
  }
  return std::isfinite(widest);
}

// Gives both sides of one set the same reaches: the larger one of each particle, which is an upper bound for a max, a
// min and a sum.
void CpuSearch::share_reaches() {
  if (!source_.search.of_i() || !source_.search.of_j() || i_.count != j_.count) return;
  for (std::int64_t k = 0; k < i_.count; ++k) {
    double &of_i = i_.rows.back()[k], &of_j = j_.rows.back()[k];
    // A NaN counts as infinite.
    of_i = of_j = std::isnan(of_i + of_j) ? std::numeric_limits<double>::infinity() : std::max(of_i, of_j);
  }
}

double CpuSearch::Located::size(std::int64_t k) const {
  double size = 0;
  for (std::size_t axis = 0; axis + 1 < rows.size(); ++axis) size = std::max(size, std::fabs(rows[axis][k]));
  return size;
}

CpuSearch::Displacement CpuSearch::displacement(const Located& a, std::int64_t i, const Located& b,
                                                std::int64_t j) const {
  Displacement d;
  for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis)
    d.difference[axis] = b.rows[axis][j] - a.rows[axis][i];
  d.image = space_.minimum_image(d.difference);
  return d;
}

// The fraction of all pairs that a search would test, estimated by sampling, because the extent is misleading if a few
// particles are far from all others. The estimate is the fraction of sampled pairs within the reach plus the radius of
// a group. The radius follows from the local density of i, given by the distance to the third nearest sampled i.
double CpuSearch::fraction_tested() const {
  constexpr int kDrawn = 32, kNearest = 3;
  const auto drawn_i = int(std::min<std::int64_t>(kDrawn, i_.count));
  const int drawn_j = 2 * kDrawn;
  std::int64_t tested = 0;
  for (int k = 0; k < drawn_i; ++k) {
    const std::int64_t i = drawn(k, i_.count);
    std::array<double, kDrawn> distances{};
    for (int other = 0; other < drawn_i; ++other) {
      const Vector3 image = displacement(i_, i, i_, drawn(other, i_.count)).image;
      distances[std::size_t(other)] = dot(image, image);
    }
    const auto nearest = distances.begin() + std::min(kNearest, drawn_i - 1);
    std::nth_element(distances.begin(), nearest, distances.begin() + drawn_i);
    const double of_group = double(ParticleTree::kLeaf * drawn_i) / double(i_.count * kNearest);
    const double radius = std::sqrt(*nearest) * std::pow(std::min(1.0, of_group), 1.0 / space_.axes);
    for (int other = 0; other < drawn_j; ++other) {
      const std::int64_t j = drawn(other, j_.count);
      const Vector3 image = displacement(i_, i, j_, j).image;
      const double reach = space_.reach(i_.reach(i), j_.reach(j), i_.size(i) + j_.size(j)) + radius;
      tested += !(dot(image, image) > reach * reach);
    }
  }
  return double(tested) / double(drawn_i * drawn_j);
}

// Sorting the particles, finding and gathering the j of each group, and testing the pairs of the groups.
double CpuSearch::cost() const {
  constexpr double kFind = 1000, kSort = 500;  // in pairs, per particle
  const auto ni = double(i_.count), nj = double(j_.count);
  const double sorting = (ni + nj) * kSort + ni * kFind;
  const double of_pair = has_half_lists() ? 0.7 : 1.2;
  // For small sums sampling would take too long.
  return sorting < ni * nj ? sorting + of_pair * ni * nj * fraction_tested() : sorting;
}

bool CpuSearch::holds(double skin) const {
  const bool same_cell = !space_.cell || (sorted_space_.cell && space_.cell->has_basis_of(*sorted_space_.cell));
  if (!(skin > 0) || !same_cell || skin != skin_ || i_.values.size() != i_at_sort_.size() ||
      j_.values.size() != j_at_sort_.size() || space_.uniform > sorted_space_.uniform)
    return false;
  const double left = skin_ - most_change_of_images();
  if (!(left > 0)) return false;
  const bool one_set = !i_tree_ && is_one_set();
  return (one_set || stays_near(i_, i_at_sort_, source_.search.of_i(), left / 2)) &&
         stays_near(j_, j_at_sort_, source_.search.of_j(), left / 2);
}

// How far lengths of the box that have changed since the last sort() move the image of a j that is nearest to an i: at
// most so many times the change of each length as the image is periods away, from the particles' positions then. A pair
// at most half a length apart, whose particles have each moved by at most half of the skin, is at most (half a length +
// extent + skin) / length periods away. Infinite if a length was or is open.
double CpuSearch::most_change_of_images() const {
  double squared = 0;
  for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
    const double now = space_.length[axis], then = sorted_space_.length[axis];
    if (now == then) continue;
    if (now == 0 || then == 0) return std::numeric_limits<double>::infinity();
    const double periods = std::floor(0.5 + 1.001 * (extent_at_sort_[axis] + skin_) / now);
    squared += (now - then) * (now - then) * periods * periods;
  }
  return std::sqrt(squared);
}

// True if every particle has moved, and its reach has grown, by at most `most_moved` together since the last sort(),
// and the bounds that depend on its coordinates hold.
bool CpuSearch::stays_near(const Located& side, const std::vector<double>& then, bool reaches,
                           double most_moved) const {
  constexpr std::int64_t kAtOnce = 256;
  const std::size_t axes = side.rows.size() - 1;
  for (std::int64_t begin = 0; begin < side.count; begin += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, side.count - begin);
    std::array<double, kAtOnce> moved2{}, size{}, size_then{};
    size_then.fill(longest_period_);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const double *const x = side.rows[axis] + begin, *const was =
                                                           then.data() + std::int64_t(axis) * side.count + begin;
      const double length = space_.length[axis], inverse = space_.inverse[axis];
      for (std::int64_t k = 0; k < count; ++k) {
        const double d = nearest_image(x[k] - was[k], length, inverse);
        moved2[std::size_t(k)] += d * d;
        size[std::size_t(k)] = std::max(size[std::size_t(k)], std::fabs(x[k]));
        size_then[std::size_t(k)] = std::max(size_then[std::size_t(k)], std::fabs(was[k]));
      }
    }
    for (std::int64_t k = 0; space_.cell && k < count; ++k) {
      Vector3 moved{};
      for (std::size_t axis = 0; axis < axes; ++axis)
        moved[axis] = side.rows[axis][begin + k] - then[axis * std::size_t(side.count) + std::size_t(begin + k)];
      moved = space_.minimum_image(moved);
      moved2[std::size_t(k)] = dot(moved, moved);
    }
    bool all = true;
    const double* const reach_then = then.data() + std::int64_t(axes) * side.count + begin;
    for (std::int64_t k = 0; k < count; ++k) {
      // A reach that has grown takes its part of the skin.
      const bool has_grown = reaches && !(side.reach(begin + k) <= reach_then[k]);
      const double left = has_grown ? most_moved - (side.reach(begin + k) - reach_then[k]) : most_moved;
      all &= (left >= 0) & (moved2[std::size_t(k)] <= left * left) &
             (size[std::size_t(k)] <= 2 * size_then[std::size_t(k)]);
    }
    if (!all) return false;
  }
  return true;
}

void CpuSearch::sort(double skin, const ForEach& for_each) {
  const auto rows = [](const Located& side) { return std::vector<const double*>(side.rows.begin(), side.rows.end()); };
  skin_ = 0;  // holds() is false if an allocation below throws
  sorted_space_ = space_;
  SearchSpace wider = space_;
  if (skin > 0) {
    // While the lists are valid, a coordinate may grow to twice its value, to twice a period (when the particle is
    // wrapped into the cell), or by half of the skin. The bounds of rounding errors must cover that.
    longest_period_ = std::max(skin, space_.cell ? space_.cell->largest() : *std::ranges::max_element(space_.length));
    wider.of_size *= 2;
    wider.absolute += skin + 2 * wider.of_size * longest_period_;
  }
  j_tree_.emplace(wider, rows(j_), source_.search.of_j(), j_.count, for_each);
  i_tree_.reset();
  if (!is_one_set()) i_tree_.emplace(wider, rows(i_), source_.search.of_i(), i_.count, for_each);
  if (has_half_lists()) boxes_ = HalfLists::boxes_of_vectors(*j_tree_, source_.lanes, for_each);
  found_.clear();
  half_lists_.clear();
  if (!(skin > 0)) return;
  if (has_half_lists())
    half_lists_.resize(std::size_t(ceil_div(j_.count, HalfList::kPiece)));
  else
    found_.resize(std::size_t(groups()));
  i_at_sort_ = i_.values;
  j_at_sort_ = j_.values;
  for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis)
    extent_at_sort_[axis] = std::max(i_.high[axis], j_.high[axis]) - std::min(i_.low[axis], j_.low[axis]);
  skin_ = skin;
}

void CpuSearch::arrange(const PackedSide& j) {
  sorted_j_.reserve(round_up(j_.count, source_.lanes));
  sorted_j_.gather(j, j_tree_->numbers());
  // Derived columns included, which hold indices of tables.
  for (std::int64_t k = j_.count; k < round_up(j_.count, source_.lanes); ++k)
    sorted_j_.copy(sorted_j_, j_.count - 1, 1, k);
  if (!has_half_lists()) return;
  const std::int64_t vectors = ceil_div(j_.count, std::int64_t(source_.lanes));
  kernel_boxes_.resize(std::size_t(vectors * kFloatsOfBox));
  nbcc_kernel_arguments given{};
  given.j = sorted_j_.columns();
  code_.boxes_of_vectors(&given, 0, vectors, kernel_boxes_.data());
}

std::span<const HalfList> CpuSearch::half_lists(std::int64_t piece, Gathered& gathered, std::vector<HalfList>& found) {
  std::vector<HalfList>& lists = half_lists_.empty() ? found : half_lists_[std::size_t(piece)];
  if (half_lists_.empty() || lists.empty())
    lists = gathered.half_lists.of_piece(*j_tree_, boxes_, piece, source_.lanes);
  return lists;
}

std::int64_t CpuSearch::gather(const HalfList& list, Gathered& gathered) const {
  const std::vector<int>& numbers = j_tree_->numbers();
  const std::int64_t lanes = source_.lanes, most = kHalfListVectors * lanes;
  if (gathered.capacity < most) gathered.columns.reserve(gathered.capacity = most);
  gathered.numbers.resize(std::size_t(most));
  gathered.boxes.resize(std::size_t(kHalfListVectors) * kFloatsOfBox);
  for_runs(list.vectors, [&](std::size_t from, std::size_t count) {
    const std::int64_t position = list.vectors[from] * lanes, to = std::int64_t(from) * lanes,
                       size = std::int64_t(count) * lanes;
    gathered.columns.copy(sorted_j_, position, size, to);
    std::copy_n(kernel_boxes_.begin() + list.vectors[from] * kFloatsOfBox, count * kFloatsOfBox,
                gathered.boxes.begin() + std::ptrdiff_t(from) * kFloatsOfBox);
    std::copy_n(numbers.begin() + position, std::min(size, j_.count - position), gathered.numbers.begin() + to);
  });
  return std::int64_t(list.vectors.size() - 1) * lanes + std::min(lanes, j_.count - list.vectors.back() * lanes);
}

void CpuSearch::gather(std::int64_t group, ParticleTree::Leaves without, Gathered& gathered) {
  std::vector<int>& positions = gathered.positions;
  if (const bool known = !found_.empty() && !found_[std::size_t(group)].empty(); known) {
    positions = found_[std::size_t(group)];
  } else {
    positions.clear();
    // Kept lists hold for the reaches at the last sort().
    j_tree_->find(found_.empty() ? box_of(group) : i_tree().leaf(group), positions, without);
    if (!found_.empty()) found_[std::size_t(group)] = positions;
  }
  copy_columns(gathered);
}

void CpuSearch::set_reaches(std::int64_t begin, std::span<const double> reaches) {
  for (std::size_t k = 0; k < reaches.size(); ++k) i_.rows.back()[order_of_i()[std::size_t(begin) + k]] = reaches[k];
}

// The box of a group with the reaches of its i, which may have been set since the tree was built.
BoundingBox CpuSearch::box_of(std::int64_t group) const {
  BoundingBox box = i_tree().leaf(group);
  if (!source_.search.of_i()) return box;
  box.reach = -std::numeric_limits<double>::infinity();
  const auto first = std::size_t(group * ParticleTree::kLeaf);
  for (std::size_t at = first; at < std::min(first + ParticleTree::kLeaf, order_of_i().size()); ++at) {
    const double reach = i_.reach(order_of_i()[at]);
    box.reach = std::max(box.reach, std::isnan(reach) ? std::numeric_limits<double>::infinity() : reach);
  }
  return box;
}

ParticleTree::Leaves CpuSearch::gather_near(std::int64_t group, std::int64_t count, Gathered& gathered) const {
  const std::int64_t most = std::min(j_tree_->leaves(), ceil_div(count, std::int64_t(ParticleTree::kLeaf)) + 1);
  const std::int64_t leaf = j_tree_->near_leaf(i_tree().leaf(group));
  const std::int64_t first = std::clamp<std::int64_t>(leaf - most / 2, 0, j_tree_->leaves() - most);
  gathered.positions.clear();
  for (std::int64_t k = first * ParticleTree::kLeaf; k < std::min((first + most) * ParticleTree::kLeaf, j_.count); ++k)
    gathered.positions.push_back(int(k));
  copy_columns(gathered);
  return {first, first + most};
}

void CpuSearch::copy_columns(Gathered& gathered) const {
  std::vector<int>& positions = gathered.positions;
  const std::vector<int>& numbers = j_tree_->numbers();
  const auto count = positions.size();
  // Pad with copies of the last j, so that full vectors hold ordinary numbers.
  const auto padded = std::size_t(round_up(std::int64_t(count), source_.lanes));
  if (count > 0) positions.resize(padded, positions.back());
  if (std::int64_t(padded) > gathered.capacity) {
    gathered.capacity = std::int64_t(padded) * 2;
    gathered.columns.reserve(gathered.capacity);
  }
  gathered.columns.gather(sorted_j_, positions);
  gathered.numbers.resize(padded);
  for (std::size_t k = 0; k < padded; ++k) gathered.numbers[k] = numbers[std::size_t(positions[k])];
  positions.resize(count);
}

// Gathers the coordinates of the j first, so that random memory accesses occur once per group.
std::int64_t CpuSearch::pairs_within(std::int64_t group) const {
  std::int64_t within = 0;
  std::vector<int> positions;
  if (!found_.empty()) positions = found_[std::size_t(group)];
  if (positions.empty()) j_tree_->find(box_of(group), positions);
  const std::size_t count = positions.size(), reach_row = std::size_t(space_.axes);
  std::vector<double> near((reach_row + 1) * count), distances(count);
  for (std::size_t row = 0; row < reach_row + source_.search.of_j(); ++row)
    for (std::size_t k = 0; k < count; ++k)
      near[row * count + k] = j_.rows[row][j_tree_->numbers()[std::size_t(positions[k])]];

  const auto first = std::size_t(group * ParticleTree::kLeaf),
             last = std::min(first + ParticleTree::kLeaf, order_of_i().size());
  for (std::size_t position = first; position < last; ++position) {
    const int i = order_of_i()[position];
    if (i_.non_finite[std::size_t(i)]) continue;
    std::ranges::fill(distances, 0);
    for (std::size_t axis = 0; !space_.cell && axis < reach_row; ++axis) {
      const double x = i_.rows[axis][i], length = space_.length[axis], inverse = space_.inverse[axis];
      for (std::size_t k = 0; k < count; ++k) {
        const double d = nearest_image(near[axis * count + k] - x, length, inverse);
        distances[k] += d * d;
      }
    }
    for (std::size_t k = 0; space_.cell && k < count; ++k) {
      const Vector3 image = space_.minimum_image(
          {near[k] - i_.rows[0][i], near[count + k] - i_.rows[1][i], near[2 * count + k] - i_.rows[2][i]});
      distances[k] = dot(image, image);
    }
    const double reach_of_i = source_.search.of_i() ? i_.rows[reach_row][i] : 0;
    for (std::size_t k = 0; k < count; ++k) {
      const double reach = space_.exact_reach(reach_of_i, near[reach_row * count + k]), reach2 = reach * reach;
      const bool is_near = source_.search.strict ? distances[k] < reach2 : distances[k] <= reach2;
      within += reach >= 0 && is_near && !j_.non_finite[std::size_t(j_tree_->numbers()[std::size_t(positions[k])])];
    }
  }
  return within;
}

FoundPairs CpuSearch::find_pairs(const nbcc_kernel_arguments& given, const Exclusions* exclusions, std::int64_t ni,
                                 const ForEach& for_each) {
  struct Found {
    int j;
    Vector3 shift;
  };
  const auto is_excluded = [&](int i, int j) {
    const nbcc_exclusions& out = exclusions->of[std::size_t(i)];
    const std::int64_t from = j - out.first;
    return (from >= 0 && from < 64 && (out.near >> from & 1) != 0) ||
           std::find(out.far, out.far + out.far_count, j) != out.far + out.far_count;
  };
  std::vector<std::vector<Found>> of_i(static_cast<std::size_t>(ni));
  for_each(groups(), [&](std::int64_t group) {
    Gathered near(source_);
    gather(group, {}, near);
    nbcc_kernel_arguments now = given;
    now.j = near.columns.columns();
    now.j_number = near.numbers.data();
    const auto count = std::int64_t(near.positions.size());
    std::vector<char> passes(near.positions.size());
    const auto first = std::size_t(group * ParticleTree::kLeaf),
               last = std::min(first + ParticleTree::kLeaf, order_of_i().size());
    for (std::size_t position = first; position < last; ++position) {
      const int i = order_of_i()[position];
      if (i_.non_finite[std::size_t(i)]) continue;
      code_.within(&now, i, 0, count, passes.data());
      for (std::size_t k = 0; k < passes.size(); ++k) {
        const int j = near.numbers[k];
        if (passes[k] == 0 || j_.non_finite[std::size_t(j)] || (exclusions && is_excluded(i, j))) continue;
        const Displacement d = displacement(i_, i, j_, j);
        of_i[std::size_t(i)].push_back({j, sum(d.image, -1, d.difference)});
      }
    }
  });
  FoundPairs pairs;
  pairs.axes = space_.axes;
  pairs.first.push_back(0);
  for (std::vector<Found>& row : of_i) {
    std::ranges::sort(row, {}, &Found::j);
    for (const Found& one : row) {
      pairs.j.push_back(one.j);
      pairs.shifts.insert(pairs.shifts.end(), one.shift.begin(), one.shift.begin() + space_.axes);
    }
    pairs.first.push_back(std::int64_t(pairs.j.size()));
  }
  return pairs;
}

}  // namespace nbcc
