// Packed columns -> places, trees, and the j of each group. Door: CpuSearch. Sums nothing and stores no result.
#include "runtime/cpu/cpu_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/cpu/partition.h"

namespace nbcc {
namespace {

constexpr std::int64_t kChunk = 4096;  // particles that a thread locates at a time

// What rounding adds to a distance, of itself: less than the bare estimate of a root is off.
constexpr double kRelative = 0x1p-10;
// ... and of the coordinates, where these are kept in single precision and images are taken in it, or in double.
double of_coordinates(const KernelSource& source) {
  const bool single =
      std::ranges::any_of(source.i_columns, [](const Column& column) { return column.element == Element::Float; });
  return single ? 0x1p-20 : 0x1p-48;
}

}  // namespace

CpuSearch::CpuSearch(const KernelSource& source, const CpuCode& code)
    : source_(source), code_(code), sorted_j_(source, Role::InputJ) {}

bool CpuSearch::locate_side(nbcc_locate_function locate, const nbcc_kernel_arguments& given, std::int64_t count,
                            const ForEach& for_each, Located& side) {
  const std::int64_t rows = source_.search.axes + 1, chunks = ceil_div(count, kChunk);
  side.count = count;
  side.values.resize(std::size_t(rows * count));
  side.rows.clear();
  side.low = side.high = {};
  for (std::int64_t row = 0; row < rows; ++row) side.rows.push_back(side.values.data() + row * count);
  struct Extent {
    std::array<double, kMostAxes> low{}, high{};
    bool finite = true;
  };
  std::vector<Extent> extents(static_cast<std::size_t>(chunks));
  for_each(chunks, [&](std::int64_t chunk) {
    const std::int64_t begin = chunk * kChunk, end = std::min(begin + kChunk, count);
    locate(&given, begin, end, side.rows.data());
    Extent& extent = extents[std::size_t(chunk)];
    for (std::size_t axis = 0; axis + 1 < side.rows.size(); ++axis) {
      double low = std::numeric_limits<double>::infinity(), high = -low, nothing = 0;
      for (std::int64_t k = begin; k < end; ++k) {
        const double x = side.rows[axis][k];
        low = std::min(low, x);
        high = std::max(high, x);
        nothing += x - x;  // NaN if x is none or infinite
      }
      extent.low[axis] = low;
      extent.high[axis] = high;
      extent.finite &= nothing == 0;
    }
  });
  if (chunks == 0) return true;
  side.low = extents.front().low;
  side.high = extents.front().high;
  for (const Extent& extent : extents) {
    if (!extent.finite) return false;
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) {
      side.low[axis] = std::min(side.low[axis], extent.low[axis]);
      side.high[axis] = std::max(side.high[axis], extent.high[axis]);
    }
  }
  return true;
}

bool CpuSearch::locate(const nbcc_kernel_arguments& given, std::int64_t ni, std::int64_t nj, const ForEach& for_each) {
  const SearchLayout& layout = source_.search;
  if (!code_.extent || std::max(ni, nj) > std::numeric_limits<int>::max()) return false;
  if (!locate_side(code_.locate_i, given, ni, for_each, i_) || !locate_side(code_.locate_j, given, nj, for_each, j_))
    return false;
  std::array<double, kMostAxes + 1> extent{};
  code_.extent(&given, extent.data());
  space_ = {};
  space_.axes = layout.axes;
  space_.kind = layout.reach;
  space_.uniform = extent[std::size_t(layout.axes)];
  if (std::isnan(space_.uniform)) return false;
  double largest = 0;
  for (std::size_t axis = 0; axis < std::size_t(layout.axes); ++axis) {
    const double across = std::max(i_.high[axis], j_.high[axis]) - std::min(i_.low[axis], j_.low[axis]);
    double length = layout.periodic[axis] ? std::fabs(extent[axis]) : 0;
    if (layout.periodic[axis] && !(length > 0 && std::isfinite(length))) return false;
    // No pair is farther apart than half of a length: its copies are not seen.
    if (length > 2.1 * across) length = 0;
    space_.set_length(axis, length);
    largest = std::max({largest, across, length, std::fabs(i_.low[axis]), std::fabs(i_.high[axis])});
  }
  space_.relative = kRelative;
  space_.absolute = of_coordinates(source_) * largest;
  return std::isfinite(largest);
}

// By the pairs that could be tested in the same time: those of a group's box, larger by the reach on every side, what
// it takes to find and gather them, and to sort the particles.
bool CpuSearch::pays() const {
  constexpr double kFind = 1000, kSort = 500;  // of one particle
  double widest = 0;
  for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis)
    widest = std::max(widest, j_.high[axis] - j_.low[axis]);
  // A few that reach beyond all others are no reason to sum over all pairs.
  const auto mean = [&](const Located& side, bool reaches) {
    double sum = 0;
    for (std::int64_t k = 0; reaches && k < side.count; ++k) {
      const double reach = std::fabs(side.rows.back()[k]);
      sum += reach < widest ? reach : widest;
    }
    return sum / double(std::max<std::int64_t>(side.count, 1));
  };
  const double reach = std::fabs(space_.reach(mean(i_, source_.search.of_i()), mean(j_, source_.search.of_j())));
  const double group =
      std::pow(double(SiteTree::kLeaf) / double(std::max<std::int64_t>(i_.count, 1)), 1.0 / space_.axes);
  double share = 1;
  for (std::size_t axis = 0; axis < std::size_t(space_.axes); ++axis) {
    const double across = space_.length[axis] > 0 ? space_.length[axis] : j_.high[axis] - j_.low[axis];
    if (across > 0) share *= std::min(1.0, 2 * reach / across + group);
  }
  const auto ni = double(i_.count), nj = double(j_.count);
  return ni * (1.2 * nj * share + kFind + kSort) + nj * kSort < ni * nj;
}

bool CpuSearch::holds(double skin) const {
  if (!(skin > 0) || skin != skin_ || i_.values.size() != i_then_.size() || j_.values.size() != j_then_.size() ||
      space_.length != sorted_space_.length || space_.uniform > sorted_space_.uniform ||
      2 * space_.absolute > 3 * sorted_space_.absolute)
    return false;
  const auto stays = [&](const Located& side, const std::vector<double>& then, bool reaches) {
    for (std::int64_t k = 0; k < side.count; ++k) {
      double moved = 0;
      for (std::size_t row = 0; row + 1 < side.rows.size(); ++row) {
        const double was = then[row * std::size_t(side.count) + std::size_t(k)];
        const double d = nearest_image(side.rows[row][k] - was, space_.length[row], space_.inverse[row]);
        moved += d * d;
      }
      if (!(4 * moved <= skin * skin)) return false;
      if (reaches && !(side.rows.back()[k] <= then[then.size() - std::size_t(side.count) + std::size_t(k)]))
        return false;
    }
    return true;
  };
  return stays(i_, i_then_, source_.search.of_i()) && stays(j_, j_then_, source_.search.of_j());
}

void CpuSearch::sort(double skin, const ForEach& for_each) {
  const auto rows = [](const Located& side) { return std::vector<const double*>(side.rows.begin(), side.rows.end()); };
  skin_ = 0;  // nothing holds, should there be no memory
  sorted_space_ = space_;
  SearchSpace wider = space_;
  // Twice what rounding adds: by the time that somebody has moved coordinates may be larger.
  wider.absolute = 2 * space_.absolute + skin;
  j_tree_.emplace(wider, rows(j_), source_.search.of_j(), j_.count, for_each);
  i_tree_.reset();
  if (source_.search.of_i() != source_.search.of_j() || i_.values != j_.values)
    i_tree_.emplace(wider, rows(i_), source_.search.of_i(), i_.count, for_each);
  found_.clear();
  if (!(skin > 0)) return;
  found_.resize(std::size_t(groups()));
  i_then_ = i_.values;
  j_then_ = j_.values;
  skin_ = skin;
}

void CpuSearch::arrange(const PackedSide& j) {
  sorted_j_.reserve(round_up(j_.count, source_.lanes));
  sorted_j_.gather(j, j_tree_->numbers());
}

void CpuSearch::gather(std::int64_t group, Gathered& gathered) {
  std::vector<int>& positions = gathered.positions;
  const std::vector<int>& numbers = j_tree_->numbers();
  if (const bool known = !found_.empty() && !found_[std::size_t(group)].empty(); known) {
    positions = found_[std::size_t(group)];
  } else {
    positions.clear();
    j_tree_->find(i_tree().leaf(group), positions);
    // Of equal extremes the lowest j is chosen, which kernels take to be the first.
    if (std::ranges::any_of(source_.reductions, keeps_index))
      std::ranges::sort(positions, {}, [&](int position) { return numbers[std::size_t(position)]; });
    if (!found_.empty()) found_[std::size_t(group)] = positions;
  }
  const auto count = positions.size();
  // Behind the end stands the last one again, so that vectors hold ordinary numbers.
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

// The j's coordinates are put side by side first, so that memory is read at random once for a group.
std::int64_t CpuSearch::pairs_within(std::int64_t group) const {
  std::vector<int> positions;
  if (!found_.empty()) positions = found_[std::size_t(group)];
  if (positions.empty()) j_tree_->find(i_tree().leaf(group), positions);
  const std::size_t count = positions.size(), reach_row = std::size_t(space_.axes);
  std::vector<double> near((reach_row + 1) * count), distances(count);
  for (std::size_t row = 0; row < reach_row + source_.search.of_j(); ++row)
    for (std::size_t k = 0; k < count; ++k)
      near[row * count + k] = j_.rows[row][j_tree_->numbers()[std::size_t(positions[k])]];

  const auto first = std::size_t(group * SiteTree::kLeaf),
             last = std::min(first + SiteTree::kLeaf, order_of_i().size());
  std::int64_t within = 0;
  for (std::size_t position = first; position < last; ++position) {
    const int i = order_of_i()[position];
    std::ranges::fill(distances, 0);
    for (std::size_t axis = 0; axis < reach_row; ++axis) {
      const double x = i_.rows[axis][i], length = space_.length[axis], inverse = space_.inverse[axis];
      for (std::size_t k = 0; k < count; ++k) {
        const double d = nearest_image(near[axis * count + k] - x, length, inverse);
        distances[k] += d * d;
      }
    }
    const double reach_of_i = source_.search.of_i() ? i_.rows[reach_row][i] : 0;
    for (std::size_t k = 0; k < count; ++k) {
      const double reach = space_.exact_reach(reach_of_i, near[reach_row * count + k]);
      within += reach >= 0 && distances[k] < reach * reach;
    }
  }
  return within;
}

}  // namespace nbcc
