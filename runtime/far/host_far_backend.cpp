// Arrays, trees and lists of a far field in the host's memory. Interface: HostFarBackend.
#include "runtime/far/host_far_backend.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/round_up.h"

namespace nbcc {
namespace {

constexpr std::int64_t kParticlesAtOnce = 4096;  // particles of a step of a loop on threads
constexpr double kNoPosition = std::numeric_limits<double>::quiet_NaN();

bool all_finite(std::span<const double> values) {
  double zero = 0;  // x - x is NaN if x is NaN or infinite
  for (const double value : values) zero += value - value;
  return zero == 0;
}

}  // namespace

void HostFarBackend::ListStore::clear() {
  i_first.assign(1, 0);
  range_first.assign(1, 0);
  groups = 0;
  i_order.clear(), j_begin.clear(), j_end.clear(), j_order.clear(), images.clear(), shifts.clear();
}

// Adjacent ranges of a group and an image become one.
void HostFarBackend::ListStore::add_range(std::int64_t begin, std::int64_t end, std::int32_t image) {
  if (std::int64_t(j_end.size()) > range_first.back() && j_end.back() == begin && images.back() == image) {
    j_end.back() = end;
    return;
  }
  j_begin.push_back(begin);
  j_end.push_back(end);
  images.push_back(image);
}

void HostFarBackend::ListStore::set_shifts(std::span<const CellVector> of_images, int of_axes) {
  axes = of_axes;
  for (const std::int32_t image : images)
    for (std::size_t axis = 0; axis < std::size_t(axes) && !of_images.empty(); ++axis)
      shifts.push_back(of_images[std::size_t(image)][axis]);
}

void HostFarBackend::ListStore::end_group() {
  ++groups;
  i_first.push_back(std::int64_t(i_order.size()));
  range_first.push_back(std::int64_t(j_begin.size()));
}

void HostFarBackend::ListStore::end_with_others(std::int64_t count) {
  if (std::int64_t(i_order.size()) == count) return;
  std::vector<char> is_listed(std::size_t(count), 0);
  for (const std::int64_t i : i_order) is_listed[std::size_t(i)] = 1;
  for (std::int64_t i = 0; i < count; ++i)
    if (is_listed[std::size_t(i)] == 0) i_order.push_back(i);
  i_first.push_back(std::int64_t(i_order.size()));
  range_first.push_back(std::int64_t(j_begin.size()));
}

ListArrays HostFarBackend::ListStore::arrays() const {
  ListArrays arrays;
  arrays.groups = std::int64_t(i_first.size()) - 1;
  arrays.ranges = std::int64_t(j_begin.size());
  arrays.i_first = i_first.data();
  arrays.i_order = i_order.empty() ? nullptr : i_order.data();
  arrays.range_first = range_first.data();
  arrays.j_begin = j_begin.data();
  arrays.j_end = j_end.data();
  arrays.j_order = j_order.empty() ? nullptr : j_order.data();
  arrays.j_count = std::int64_t(j_order.size());
  arrays.shifts = shifts.empty() ? nullptr : shifts.data();
  arrays.axes = shifts.empty() ? 0 : axes;
  return arrays;
}

HostFarBackend::HostFarBackend(const Kernel& kernel, const Summation& summation, Precision at_least,
                               bool may_be_relative)
    : FarBackend(kernel, at_least, true, may_be_relative),
      for_each_([&summation](std::int64_t count, const std::function<void(std::int64_t)>& body) {
        summation.on_host_threads(count, body);
      }) {}

void HostFarBackend::mark(std::size_t k) {
  marks_.resize(std::max(marks_.size(), k + 1));
  marks_[k] = Clock::now();
}

// ---- particles ------------------------------------------------------------------------------------------------------

void HostFarBackend::reserve_particles(const SumRequest& request) {
  position_of_j_.resize(std::size_t(request.nj * kernels().axes));
  position_of_i_.assign(std::size_t(request.ni * kernels().axes), kNoPosition);
  weights_.resize(kernels().weights, request.nj);
  factors_.resize(kernels().factors, request.ni);
  chosen_.clear();
  for (std::int64_t k = 0; k < request.i_count; ++k)
    chosen_.push_back(request.i_list ? request.i_list[k] : request.i_begin + k);
  particles_ = {.ni = request.ni,
                .nj = request.nj,
                .position_of_i = position_of_i_.data(),
                .position_of_j = position_of_j_.data(),
                .weights = weights_.array(),
                .factors = factors_.array(),
                .j_of_i = request.i_offset - request.j_offset};
  particles_.are_all = !request.i_list && request.i_count == request.ni;
}

// Infinite and reversed if no position is finite.
std::vector<OpenExtent> HostFarBackend::finite_extents(std::span<const CellVector> directions) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<OpenExtent> found(directions.size(), {kNone, -kNone});
  const auto axes = std::size_t(kernels().axes);
  for (std::size_t k = 0; k < directions.size(); ++k)
    for (const std::vector<double>* positions : {&position_of_i_, &position_of_j_})
      for (std::size_t first = 0; first < positions->size(); first += axes) {
        double along = 0;
        for (std::size_t axis = 0; axis < axes; ++axis) along += directions[k][axis] * (*positions)[first + axis];
        if (!std::isfinite(along)) continue;
        found[k].low = std::min(found[k].low, along);
        found[k].high = std::max(found[k].high, along);
      }
  return found;
}

std::vector<OpenExtent> HostFarBackend::extents(std::span<const CellVector> directions) {
  std::vector<OpenExtent> found = finite_extents(directions);
  for (OpenExtent& extent : found)
    if (extent.low > extent.high) extent = {};
  return found;
}

void HostFarBackend::move_to_cell(const PeriodicCell& cell, const std::vector<CellVector>& shifts) {
  const auto axes = std::size_t(kernels().axes);
  for (std::vector<double>* positions : {&position_of_i_, &position_of_j_}) {
    const auto count = std::int64_t(positions->size() / axes);
    for_each_(ceil_div(count, kParticlesAtOnce), [&](std::int64_t chunk) {
      for (std::int64_t p = chunk * kParticlesAtOnce; p < std::min(count, (chunk + 1) * kParticlesAtOnce); ++p)
        cell.move_in(positions->data() + std::size_t(p) * axes);
    });
  }
  cell_ = cell;
  images_ = shifts;
  sums_.set_images({[this, axes](const CellVector& shift) {
                      if (shift == CellVector{}) return places(position_of_i_.data(), particles_.ni);
                      shifted_.resize(position_of_i_.size());
                      for (std::size_t k = 0; k < shifted_.size(); ++k)
                        shifted_[k] = position_of_i_[k] - shift[k % axes];
                      return places(shifted_.data(), particles_.ni);
                    },
                    places(position_of_j_.data(), particles_.nj), shifts});
}

std::string HostFarBackend::check_particles() {
  const int axes = kernels().axes;
  not_finite_.clear();
  particles_.are_one_set = position_of_i_.size() == position_of_j_.size();
  std::erase_if(chosen_, [&](std::int64_t i) {
    const auto position = std::span(position_of_i_).subspan(std::size_t(i * axes), std::size_t(axes));
    if (!all_finite(position)) return not_finite_.push_back(i), true;
    particles_.are_one_set =
        particles_.are_one_set &&
        std::ranges::equal(position, std::span(position_of_j_).subspan(std::size_t(i * axes), std::size_t(axes)));
    return false;
  });
  particles_.indices_agree =
      kernels().needs_one_set && std::ranges::all_of(chosen_, [&](std::int64_t i) {
        const std::int64_t j = i + particles_.j_of_i;
        if (j < 0 || j >= particles_.nj) return true;
        return std::equal(position_of_i_.begin() + i * axes, position_of_i_.begin() + (i + 1) * axes,
                          position_of_j_.begin() + j * axes);
      });
  particles_.are_all = particles_.are_all && not_finite_.empty();
  particles_.chosen = std::int64_t(chosen_.size());
  if (!all_finite(position_of_j_)) return "a j has a position that is not finite";
  for (int k = 0; k < kernels().weights; ++k)
    if (!all_finite(weights_[k])) return "a weight is not finite";
  return chosen_.empty() ? std::string(kNoFiniteI) : "";
}

std::vector<double> HostFarBackend::rows(const FarArray& columns, int components,
                                         std::span<const std::int64_t> particles) {
  std::vector<double> rows;
  for (const std::int64_t particle : particles)
    for (int c = 0; c < components; ++c) rows.push_back(columns.data[c * columns.stride + particle]);
  return rows;
}

// ---- trees ----------------------------------------------------------------------------------------------------------

// A tree of as many particles that are all chosen, because the others have no position, has all chosen particles.
bool HostFarBackend::are_in_trees() {
  const auto is_in = [&](const FarTree& tree, std::span<const double> positions, std::int64_t chosen) {
    const auto axes = std::size_t(tree.axes());
    bool is_same = tree.count() == chosen;
    for (std::size_t p = 0; is_same && p < tree.order().size(); ++p) {
      const std::size_t first = std::size_t(tree.order()[p]) * axes;
      for (std::size_t axis = 0; axis < axes; ++axis)
        is_same = is_same && first < positions.size() && positions[first + axis] == tree.coordinates(int(axis))[p];
    }
    return is_same;
  };
  return is_in(tree_of_j_, position_of_j_, particles_.nj) &&
         (one_tree_ || is_in(tree_of_i_, position_of_i_, particles_.chosen));
}

bool HostFarBackend::build_trees(bool one_tree, int leaf) {
  one_tree_ = one_tree;
  tree_of_j_.build(position_of_j_, kernels().axes, {}, leaf, for_each_);
  const std::span<const double> of_i = chosen_.empty() ? std::span<const double>() : position_of_i_;
  if (!one_tree_) tree_of_i_.build(of_i, kernels().axes, chosen_, leaf, for_each_);
  return true;  // check_particles() has tested the positions
}

void HostFarBackend::split_trees(int leaf) {
  tree_of_j_.split_again(leaf, for_each_);
  if (!one_tree_) tree_of_i_.split_again(leaf, for_each_);
}

std::vector<int> HostFarBackend::cell_sizes(bool of_i) const {
  std::vector<int> sizes;
  for (const FarCell& cell : (of_i ? tree_of_i() : tree_of_j_).cells()) sizes.push_back(cell.size());
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  return sizes;
}

// ---- lists ----------------------------------------------------------------------------------------------------------

// Fitted to times of gravity by one core with AVX-512. Most of the work for a point of a grid is in the lists: to read
// its position and to add up and store its sums.
FarCosts HostFarBackend::costs() const {
  const double operations = std::max(1.0, kernels().near.operations);
  return {.product = 40 / operations,
          .point = 20000 / operations,
          .settled = 5000 / operations,
          .excluded = 1000 / operations};
}

FarWalk HostFarBackend::walk_trees(int order, const FarLimits& limits, bool counts_only) const {
  const std::vector<std::int32_t> roots = this->roots(), points_of_j = FarGrids(sources(), order).points_of_cells(),
                                  points_of_i = one_tree_ && &sources() == &tree_of_j_
                                                    ? points_of_j
                                                    : FarGrids(tree_of_i(), order).points_of_cells();
  return walk(tree_of_i().cells(), sources().cells(), kernels().axes,
              {points_of_i, points_of_j, kernels().both_sides, images_, roots, sums_.relative_inputs() > 0}, limits,
              counts_only, for_each_);
}

FarCounts HostFarBackend::counts_of(int order, const FarWalk& walk) const {
  FarCounts counts{.pairs = walk.all_pairs(), .near = walk.pairs[0], .settled = double(walk.settled)};
  counts.distant = counts.pairs - counts.near;
  counts.points = double(FarGrids(sources(), order).points());
  if (kernels().both_sides) counts.points = std::max(counts.points, double(FarGrids(tree_of_i(), order).points()));
  return counts;
}

// Cells of i are marked from the leaves up.
void HostFarBackend::find_sampled_cells(std::span<const std::int64_t> sampled) {
  is_sampled_.clear();
  sampled_cells_.clear();
  if (sampled.empty()) return;
  const std::span<const FarCell> cells = tree_of_i().cells();
  for (const std::int64_t i : tree_of_i().order()) is_sampled_.push_back(std::ranges::binary_search(sampled, i));
  sampled_cells_.assign(cells.size(), 0);
  for (std::size_t k = cells.size(); k-- > 0;) {
    const FarCell& cell = cells[k];
    const auto of_particles = std::span(is_sampled_).subspan(std::size_t(cell.begin), std::size_t(cell.count()));
    sampled_cells_[k] = char(cell.is_leaf() ? std::ranges::count(of_particles, 1) > 0
                                            : sampled_cells_[std::size_t(cell.child)] != 0 ||
                                                  sampled_cells_[std::size_t(cell.child) + 1] != 0);
  }
}

// Of blocks of neighbours, each some leaves, every k-th is taken.
std::vector<std::int64_t> HostFarBackend::some_of(std::span<const std::int64_t> sampled, std::int64_t wanted) {
  constexpr std::size_t kBlock = 256, kLeastBlocks = 16;
  const std::span<const std::int64_t> order = tree_of_i().order();
  const std::size_t every = std::min(sampled.size() / std::size_t(wanted), order.size() / (kLeastBlocks * kBlock));
  std::vector<std::int64_t> some;
  if (every < 2) return some;
  for (std::size_t first = 0; first < order.size(); first += every * kBlock)
    for (const std::int64_t i : order.subspan(first, std::min(kBlock, order.size() - first)))
      if (std::ranges::binary_search(sampled, i)) some.push_back(i);
  std::ranges::sort(some);
  return some;
}

// The j of the near lists are the particles in the order of the tree; the j of the distant lists are the points of
// FarGrids. Groups are the particles of a leaf, or a grid; for a sample the sampled particles of a leaf, and the grids
// above them.
FarCounts HostFarBackend::make_lists(int order, const FarLimits& limits, std::span<const std::int64_t> sampled) {
  const FarTree& tree = tree_of_i();
  const FarWalk found = walk_trees(order, limits, false);
  const FarGrids grids_of_i(tree, order), grids_of_j(sources(), order);
  const std::span<const FarCell> cells = tree.cells();
  find_sampled_cells(sampled);

  std::vector<std::size_t> first(cells.size() + 1, 0);
  for (const FarEntry& entry : found.entries) ++first[std::size_t(entry.of_i) + 1];
  for (std::size_t k = 1; k < first.size(); ++k) first[k] += first[k - 1];
  const auto takes = [&](std::size_t cell) { return sampled.empty() || sampled_cells_[cell] != 0; };
  const auto add = [&](ListStore& lists, std::size_t cell, FarKind kind) {
    for (std::size_t k = first[cell]; k < first[cell + 1]; ++k) {
      const FarEntry& entry = found.entries[k];
      if (entry.kind != kind) continue;
      const FarCell& j = sources().cells()[std::size_t(entry.of_j)];
      const std::int64_t point = grids_of_j.first_point(entry.of_j);
      if (kind == FarKind::ParticlesOnParticles || kind == FarKind::ParticlesOnGrid)
        lists.add_range(j.begin, j.end, entry.image);
      else
        lists.add_range(point, point + grids_of_j.points_of(entry.of_j), entry.image);
    }
  };
  std::vector<std::size_t> leaves;
  for (std::size_t k = 0; k < cells.size(); ++k)
    if (cells[k].is_leaf()) leaves.push_back(k);
  std::ranges::sort(leaves, {}, [&](std::size_t k) { return cells[k].begin; });

  near_lists_.clear();
  distant_lists_.clear();
  for (const std::size_t leaf : leaves) {
    if (!takes(leaf)) continue;
    for (std::int32_t p = cells[leaf].begin; p < cells[leaf].end; ++p) {
      if (!sampled.empty() && is_sampled_[std::size_t(p)] == 0) continue;
      near_lists_.i_order.push_back(tree.order()[std::size_t(p)]);
      distant_lists_.i_order.push_back(p);
    }
    add(near_lists_, leaf, FarKind::ParticlesOnParticles);
    near_lists_.end_group();
    add(distant_lists_, leaf, FarKind::GridOnParticles);
    distant_lists_.end_group();
  }
  for (std::size_t k = 0; k < cells.size() && kernels().both_sides; ++k) {
    if (!takes(k)) continue;
    const std::int64_t point = grids_of_i.first_point(std::int64_t(k));
    for (int p = 0; p < grids_of_i.points_of(std::int64_t(k)); ++p) distant_lists_.i_order.push_back(point + p);
    add(distant_lists_, k, FarKind::ParticlesOnGrid);
    add(distant_lists_, k, FarKind::GridOnGrid);
    distant_lists_.end_group();
  }
  near_lists_.end_with_others(particles_.ni);
  distant_lists_.end_with_others(kernels().both_sides ? grids_of_i.points() : tree.count());
  if (sampled.empty()) distant_lists_.i_order.clear();  // they are in order
  near_lists_.set_shifts(images_, kernels().axes);
  distant_lists_.set_shifts(images_, kernels().axes);
  near_lists_.j_order.assign(sources().order().begin(), sources().order().end());
  return counts_of(order, found);
}

// ---- sums -----------------------------------------------------------------------------------------------------------

FarArray HostFarBackend::reserve_sums(Sums which, int components) {
  FarColumns& columns = which == Sums::Totals ? totals_ : exact_;
  columns.resize(components, particles_.ni);
  return columns.array();
}

void HostFarBackend::go_up(int order) {
  const FarGrids grids_of_j(tree_of_j_, order);
  const auto axes = std::size_t(kernels().axes);
  points_of_j_.resize(int(axes) + kernels().weights, grids_of_j.points());
  std::vector<std::span<double>> columns = points_of_j_.all();
  grids_of_j.locate(std::span(columns).first(axes), for_each_);
  const std::span<std::span<double>> weights = std::span(columns).subspan(axes);
  for_each_(kernels().weights,
            [&](std::int64_t k) { in_order(tree_of_j_, weights_[int(k)], weights[std::size_t(k)]); });
  grids_of_j.go_up(weights, for_each_);
  make_points_of_i(order);
}

void HostFarBackend::make_points_of_i(int order) {
  const FarTree& tree = tree_of_i();
  const FarGrids grids_of_i(tree, order);
  const auto axes = std::size_t(kernels().axes);
  if (kernels().both_sides) {
    points_of_i_.resize(int(axes), grids_of_i.points());
    grids_of_i.locate(points_of_i_.all(), for_each_);
  } else {
    points_of_i_.resize(int(axes) + kernels().factors, tree.count());
    for (int axis = 0; axis < int(axes); ++axis) std::ranges::copy(tree.coordinates(axis), points_of_i_[axis].begin());
    for (int k = 0; k < kernels().factors; ++k) in_order(tree, factors_[k], points_of_i_[int(axes) + k]);
  }
}

void HostFarBackend::sum_near(const SumRequest& request, const FarArray& totals, bool lists_are_new) {
  if (lists_are_new) sums_.near().set_lists(near_lists_.arrays());
  sums_.sum_near(request, totals);
}

void HostFarBackend::sum_distant(const SumRequest& request, bool lists_are_new) {
  distant_sums_.resize(kernels().sums, points_of_i_.count());
  if (lists_are_new) sums_.distant().set_lists(distant_lists_.arrays(), sums_.relative_inputs());
  sums_.sum_distant(request, points_of_i_.array(), points_of_j_.array(), distant_sums_.array());
}

// totals += factor * sum
void HostFarBackend::go_down(int order, const FarArray&) {
  const FarTree& tree = tree_of_i();
  if (kernels().both_sides) FarGrids(tree, order).go_down(distant_sums_.all(), sampled_cells_, for_each_);
  const std::int64_t count = tree.count();
  for_each_((count + kParticlesAtOnce - 1) / kParticlesAtOnce, [&](std::int64_t chunk) {
    for (const FarPart& part : kernels().parts) {
      const std::span<double> total = totals_[part.output], sum = distant_sums_[part.sum];
      const bool has_factor = part.factor >= 0 && kernels().both_sides;
      for (std::int64_t p = chunk * kParticlesAtOnce; p < std::min(count, (chunk + 1) * kParticlesAtOnce); ++p) {
        const auto i = std::size_t(tree.order()[std::size_t(p)]);
        total[i] += has_factor ? factors_[part.factor][i] * sum[std::size_t(p)] : sum[std::size_t(p)];
      }
    }
  });
  for (const std::int64_t i : not_finite_)
    for (int output = 0; output < source_.outputs; ++output) totals_[output][std::size_t(i)] = kNoPosition;
}

void HostFarBackend::collect_far_images(std::shared_ptr<const FarOperator> through) {
  const std::vector<double> gathered = weights_of_points(*through);
  far_images_.collect(std::move(through), gathered, kernels().weight_names, for_each_);
}

std::vector<double> HostFarBackend::weights_of_points(const FarOperator& through) {
  return nbcc::weights_of_points(through, position_of_j_, weights_.all(), for_each_);
}

void HostFarBackend::add_far_images(const FarArray& totals, std::span<const std::int64_t> sampled) {
  const std::span<const std::int64_t> all = sampled.empty() ? chosen_ : sampled;
  const auto count = std::int64_t(all.size());
  for_each_(ceil_div(count, kParticlesAtOnce), [&](std::int64_t chunk) {
    std::vector<double> sums(std::size_t(kernels().sums));
    for (std::int64_t k = chunk * kParticlesAtOnce; k < std::min(count, (chunk + 1) * kParticlesAtOnce); ++k) {
      const std::int64_t i = all[std::size_t(k)];
      far_images_.evaluate(position_of_i_.data() + i * kernels().axes, sums);
      for (const FarPart& part : kernels().parts)
        totals.data[part.output * totals.stride + i] +=
            (part.factor >= 0 ? factors_[part.factor][std::size_t(i)] : 1) * sums[std::size_t(part.sum)];
    }
  });
}

// Leaves are two thirds full.
FarMemory HostFarBackend::memory(const SumRequest& request, const FarSetting& setting) {
  const FarKernels& k = kernels();
  const double grids = 3.0 / setting.leaf * std::pow(setting.order, k.axes);  // points for each particle
  const auto ni = double(request.ni), nj = double(request.nj);
  const double of_points =
      nj * (1 + grids) * (k.axes + k.weights) + ni * (1 + (k.both_sides ? grids : 0)) * (k.axes + k.factors + k.sums);
  const double of_particles = (ni + nj) * (4 + 3 * k.axes) + nj * k.weights + ni * (k.factors + 2 * source_.outputs);
  return {"host", std::int64_t(sizeof(double) * (of_points + of_particles)),
          std::int64_t(sysconf(_SC_PHYS_PAGES)) * std::int64_t(sysconf(_SC_PAGESIZE))};
}

}  // namespace nbcc
