// The steps of a sum with a far field. Entry points: the public functions of FarRun.
#include "runtime/far/far_run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <utility>

namespace nbcc {
namespace {

// Adds the seconds until it is destroyed.
class Timed {
 public:
  explicit Timed(double& to) : to_(to) {}
  ~Timed() { to_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& to_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool all_finite(std::span<const double> values) {
  double zero = 0;  // x - x is NaN if x is NaN or infinite
  for (const double value : values) zero += value - value;
  return zero == 0;
}

// True if these particles have the same positions in both arrays.
bool same_positions(const std::vector<double>& a, const std::vector<double>& b, std::span<const std::int64_t> particles,
                    int axes) {
  return a.size() == b.size() && std::ranges::all_of(particles, [&](std::int64_t particle) {
           return std::equal(a.begin() + particle * axes, a.begin() + (particle + 1) * axes,
                             b.begin() + particle * axes);
         });
}

std::int64_t random_below(std::int64_t end, std::mt19937_64& random) {
  return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
}

}  // namespace

void FarRun::ListStore::clear() {
  i_first.assign(1, 0);
  range_first.assign(1, 0);
  i_order.clear(), j_begin.clear(), j_end.clear(), j_order.clear();
}

// Adjacent ranges of a group become one.
void FarRun::ListStore::add_range(std::int64_t begin, std::int64_t end) {
  if (std::int64_t(j_end.size()) > range_first.back() && j_end.back() == begin) {
    j_end.back() = end;
    return;
  }
  j_begin.push_back(begin);
  j_end.push_back(end);
}

void FarRun::ListStore::end_group(std::int64_t i_end) {
  i_first.push_back(i_end);
  range_first.push_back(std::int64_t(j_begin.size()));
}

void FarRun::ListStore::end_with_others(std::int64_t count) {
  if (std::int64_t(i_order.size()) == count) return;
  std::vector<char> is_listed(std::size_t(count), 0);
  for (const std::int64_t i : i_order) is_listed[std::size_t(i)] = 1;
  for (std::int64_t i = 0; i < count; ++i)
    if (is_listed[std::size_t(i)] == 0) i_order.push_back(i);
  end_group(count);
}

ListArrays FarRun::ListStore::arrays() const {
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
  return arrays;
}

FarRun::FarRun(const Kernel& kernel, const Summation& summation, Precision at_least)
    : source_(kernel.source),
      for_each_([&summation](std::int64_t count, const std::function<void(std::int64_t)>& body) {
        summation.on_host_threads(count, body);
      }),
      sums_(kernel, at_least),
      table_(sums_.kernels(), sums_.measured(), kernel.source.fields),
      sample_(kernel.source) {}

std::string FarRun::prepare(const SumRequest& request, int leaf) {
  const int axes = kernels().axes;
  const int last_leaf = std::exchange(leaf_of_trees_, 0);  // these particles have no trees yet
  {
    const Timed timed(statistics_.seconds.particles);
    up_order_.reset();
    last_position_of_i_.swap(i_.position);
    last_position_of_j_.swap(j_.position);
    const auto reserve = [&](Particles& particles, std::int64_t count, int values) {
      particles.position.resize(std::size_t(count * axes));
      particles.values.resize(values, count);
    };
    reserve(j_, request.nj, kernels().weights);
    reserve(i_, request.ni, kernels().factors);
    centres_.resize(std::size_t(kernels().centres));
    sums_.find_centres(request, centres_);
    // i that are not chosen have no positions.
    std::ranges::fill(i_.position, std::numeric_limits<double>::quiet_NaN());
    sums_.find_sources(request, j_.position.data(), j_.values.array(), centres_.data());
    sums_.find_targets(request, i_.position.data(), i_.values.array(), centres_.data());
    last_chosen_.swap(chosen_);
    chosen_.clear();
    not_finite_.clear();
    for (std::int64_t k = 0; k < request.i_count; ++k) {
      const std::int64_t i = request.i_list ? request.i_list[k] : request.i_begin + k;
      const auto position = std::span(i_.position).subspan(std::size_t(i * axes), std::size_t(axes));
      (all_finite(position) ? chosen_ : not_finite_).push_back(i);
    }
    if (!all_finite(j_.position)) return "a j has a position that is not finite";
    for (int k = 0; k < kernels().weights; ++k)
      if (!all_finite(j_.values[k])) return "a weight is not finite";
    if (chosen_.empty()) return "no i has a finite position";
  }
  // Only the chosen i have positions.
  const bool one_set = same_positions(i_.position, j_.position, chosen_, axes);
  if (kernels().needs_one_set && !(one_set && request.i_offset == request.j_offset))
    return "the text compares i_index and j_index, but i and j are not the same particles";
  const Timed timed(statistics_.seconds.tree);
  const bool all_chosen = !request.i_list && std::int64_t(chosen_.size()) == request.ni;
  const bool one_tree = one_set && all_chosen;
  const bool unmoved = last_leaf > 0 && one_tree == one_tree_ && chosen_ == last_chosen_ &&
                       same_positions(i_.position, last_position_of_i_, chosen_, axes) &&
                       j_.position == last_position_of_j_;
  if (unmoved) {
    leaf_of_trees_ = last_leaf;
    set_leaf(leaf);
    return "";
  }
  one_tree_ = one_tree;
  lists_.reset();
  sampled_cells_.clear();
  tree_of_j_.build(j_.position, axes, {}, leaf, for_each_);
  if (!one_tree_) tree_of_i_.build(i_.position, axes, chosen_, leaf, for_each_);
  leaf_of_trees_ = leaf;
  return "";
}

void FarRun::set_leaf(int leaf) {
  if (leaf == leaf_of_trees_) return;
  const Timed timed(statistics_.seconds.tree);
  leaf_of_trees_ = leaf;
  lists_.reset();
  up_order_.reset();
  sampled_cells_.clear();
  tree_of_j_.split_again(leaf, for_each_);
  if (!one_tree_) tree_of_i_.split_again(leaf, for_each_);
}

bool FarRun::has_moved_far() {
  const double far = kFarMove * std::exp2(std::floor(std::log2(tree_of_j_.cells()[0].radius)));
  const auto many_of = [&](std::span<const double> now, std::span<const double> then) {
    if (now.size() != then.size()) return true;
    const auto axes = std::size_t(kernels().axes);
    std::size_t moved = 0;
    for (std::size_t k = 0; k < now.size(); k += axes) {
      bool is_far = false;
      for (std::size_t axis = 0; axis < axes; ++axis) {
        const double x = now[k + axis], y = then[k + axis];
        is_far = is_far || std::fabs(x - y) > far || std::isnan(x) != std::isnan(y);
      }
      moved += is_far ? 1 : 0;
    }
    return double(moved * axes) > kManyMoved * double(now.size());
  };
  return many_of(i_.position, sampled_position_of_i_) || many_of(j_.position, sampled_position_of_j_);
}

// The trees of another leaf have the same order.
bool FarRun::have_values_changed(double spread) {
  const bool are_inputs = !kernels().both_sides;
  return !norms_of_weights_.change_of(j_.values.all()).is_rescaling(spread, false) ||
         !norms_of_factors_.change_of(i_.values.all()).is_rescaling(spread, are_inputs);
}

std::string FarRun::draw_sample(const SumRequest& request, std::int64_t wanted) {
  sampled_position_of_i_ = i_.position;
  sampled_position_of_j_ = j_.position;
  if (leaf_of_trees_ > 0) {
    norms_of_weights_.keep(j_.values.all(), tree_of_j_.order());
    norms_of_factors_.keep(i_.values.all(), tree_of_i().order());
  }
  const auto chosen = [&](std::int64_t k) { return chosen_[std::size_t(k)]; };
  if (sample_.draw(std::int64_t(chosen_.size()), wanted, chosen)) {
    sampled_cells_.clear();
    if (lists_ && lists_->of == Of::Sampled) lists_.reset();
  }
  if (sample_.particles().empty()) return "no i has a finite position";
  exact_.resize(sample_.columns(), request.ni);
  sums_.sum_sample(request, sample_.particles(), exact_.array());
  std::vector<double> rows;
  for (const std::int64_t i : sample_.particles())
    for (int c = 0; c < sample_.columns(); ++c) rows.push_back(exact_[c][std::size_t(i)]);
  return sample_.set_exact(std::move(rows)) ? "" : "the terms of no sampled i are finite";
}

std::string FarRun::begin_table(const SumRequest& request) {
  // Terms without a weight have no errors.
  std::vector<std::int64_t> acting;
  for (std::int64_t j = 0; j < request.nj; ++j)
    for (int w = 0; w < kernels().weights; ++w)
      if (j_.values[w][std::size_t(j)] != 0) {
        acting.push_back(j);
        break;
      }
  if (acting.empty()) return "all weights are 0";
  std::mt19937_64 random(7);
  constexpr int kDrawn = 64;
  std::vector<double> weights, factors;
  for (int k = 0; k < kDrawn; ++k) {
    const auto j = std::size_t(acting[std::size_t(random_below(std::int64_t(acting.size()), random))]);
    for (int w = 0; w < kernels().weights; ++w) weights.push_back(j_.values[w][j]);
    const auto i = std::size_t(sample_.particles()[std::size_t(k) % sample_.particles().size()]);
    for (int f = 0; f < kernels().factors; ++f) factors.push_back(i_.values[f][i]);
  }
  table_.begin(sums_.params(request), std::move(weights), std::move(factors), sample_.typical_sizes());
  return "";
}

double FarRun::cost(const FarSetting& setting) {
  set_leaf(setting.leaf);
  const FarWalk counted = walk_trees(setting, true);
  const double near = counted.pairs[0], distant = counted.all_pairs() - near;
  // In operations, fitted to times of gravity by one core with AVX-512: a product with the value of a grid's
  // polynomial; the other work for a point of a grid, most of it in the lists: to read its place and to add up and
  // store its sums; to find a pair of cells and list it.
  constexpr double kProduct = 40, kPoint = 20000, kSettled = 5000;
  const FarGrids of_i(tree_of_i(), setting.order), of_j(tree_of_j_, setting.order);
  double products = double(tree_of_j_.count()) * kernels().weights, points = double(of_j.points());
  if (kernels().both_sides) {
    products += double(tree_of_i().count()) * kernels().sums;
    points = std::max(points, double(of_i.points()));
  }
  const double operations = distant * kernels().distant.operations + kProduct * products * of_j.points_per_cell() +
                            kPoint * points + kSettled * double(counted.settled);
  return near + operations / std::max(1.0, kernels().near.operations);
}

FarWalk FarRun::walk_trees(const FarSetting& setting, bool counts_only) {
  std::set<int> found;
  for (const std::span<const FarCell> cells : {tree_of_j_.cells(), tree_of_i().cells()})
    for (const FarCell& cell : cells)
      if (cell.radius > 0 && std::isfinite(cell.radius)) found.insert(cell.size());
  const std::vector<int> sizes(found.begin(), found.end());
  const FarLimits limits = table_.limits(sizes, setting);
  statistics_.separation = limits.largest_ratio();
  const FarGrids grids(tree_of_j_, setting.order);
  return walk(tree_of_i().cells(), tree_of_j_.cells(), kernels().axes, {grids.points_per_cell(), kernels().both_sides},
              limits, counts_only, for_each_);
}

// Cells of i are marked from the leaves up.
void FarRun::find_sampled_cells() {
  const std::span<const FarCell> cells = tree_of_i().cells();
  std::vector<char> by_particle(i_.position.size() / std::size_t(kernels().axes), 0);
  for (const std::int64_t i : sample_.particles()) by_particle[std::size_t(i)] = 1;
  is_sampled_.clear();
  for (const std::int64_t i : tree_of_i().order()) is_sampled_.push_back(by_particle[std::size_t(i)]);
  sampled_cells_.assign(cells.size(), 0);
  for (std::size_t k = cells.size(); k-- > 0;) {
    const FarCell& cell = cells[k];
    if (!cell.is_leaf()) {
      const auto child = std::size_t(cell.child);
      sampled_cells_[k] = char(sampled_cells_[child] | sampled_cells_[child + 1]);
      continue;
    }
    for (std::int32_t p = cell.begin; p < cell.end; ++p)
      sampled_cells_[k] = char(sampled_cells_[k] | is_sampled_[std::size_t(p)]);
  }
}

// The j of the near lists are the particles in the order of the tree; the j of the distant lists are the points of
// FarGrids. Groups are the particles of a leaf, or a grid; for a sample the sampled particles of a leaf, and the grids
// above them.
void FarRun::make_lists(const SumRequest& request, const FarSetting& setting, Of of) {
  set_leaf(setting.leaf);
  if (lists_ && lists_->setting == setting && lists_->of == of) return;
  lists_.reset();
  const Timed timed(statistics_.seconds.walk);
  const FarTree& tree = tree_of_i();
  const FarWalk found = walk_trees(setting, false);
  statistics_.pairs_per_i = found.all_pairs() / double(tree.count());
  const FarGrids grids_of_i(tree, setting.order), grids_of_j(tree_of_j_, setting.order);
  const std::span<const FarCell> cells = tree.cells();
  if (of == Of::Sampled && sampled_cells_.empty()) find_sampled_cells();

  std::vector<std::size_t> first(cells.size() + 1, 0);
  for (const FarEntry& entry : found.entries) ++first[std::size_t(entry.of_i) + 1];
  for (std::size_t k = 1; k < first.size(); ++k) first[k] += first[k - 1];
  const auto takes = [&](std::size_t cell) { return of == Of::All || sampled_cells_[cell] != 0; };
  const auto add = [&](ListStore& lists, std::size_t cell, FarKind kind) {
    for (std::size_t k = first[cell]; k < first[cell + 1]; ++k) {
      const FarEntry& entry = found.entries[k];
      if (entry.kind != kind) continue;
      const FarCell& j = tree_of_j_.cells()[std::size_t(entry.of_j)];
      const std::int64_t point = grids_of_j.first_point(entry.of_j);
      if (kind == FarKind::ParticlesOnParticles || kind == FarKind::ParticlesOnGrid)
        lists.add_range(j.begin, j.end);
      else
        lists.add_range(point, point + grids_of_j.points_per_cell());
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
      if (of == Of::Sampled && is_sampled_[std::size_t(p)] == 0) continue;
      near_lists_.i_order.push_back(tree.order()[std::size_t(p)]);
      distant_lists_.i_order.push_back(p);
    }
    add(near_lists_, leaf, FarKind::ParticlesOnParticles);
    near_lists_.end_group(std::int64_t(near_lists_.i_order.size()));
    add(distant_lists_, leaf, FarKind::GridOnParticles);
    distant_lists_.end_group(std::int64_t(distant_lists_.i_order.size()));
  }
  for (std::size_t k = 0; k < cells.size() && kernels().both_sides; ++k) {
    if (!takes(k)) continue;
    const std::int64_t point = grids_of_i.first_point(std::int64_t(k));
    for (int p = 0; p < grids_of_i.points_per_cell(); ++p) distant_lists_.i_order.push_back(point + p);
    add(distant_lists_, k, FarKind::ParticlesOnGrid);
    add(distant_lists_, k, FarKind::GridOnGrid);
    distant_lists_.end_group(std::int64_t(distant_lists_.i_order.size()));
  }
  near_lists_.end_with_others(request.ni);
  distant_lists_.end_with_others(kernels().both_sides ? grids_of_i.points() : tree.count());
  if (of == Of::All) distant_lists_.i_order.clear();  // they are in order
  near_lists_.j_order.assign(tree_of_j_.order().begin(), tree_of_j_.order().end());
  lists_ = Made{setting, of};
  lists_are_new_ = true;
}

void FarRun::go_up(const FarSetting& setting) {
  if (up_order_ == setting.order) return;
  const Timed timed(statistics_.seconds.up);
  const FarTree& tree = tree_of_i();
  const FarGrids grids_of_i(tree, setting.order), grids_of_j(tree_of_j_, setting.order);
  const auto axes = std::size_t(kernels().axes);
  points_of_j_.resize(int(axes) + kernels().weights, grids_of_j.points());
  std::vector<std::span<double>> columns = points_of_j_.all();
  grids_of_j.locate(std::span(columns).first(axes), for_each_);
  const std::span<std::span<double>> weights = std::span(columns).subspan(axes);
  const auto collect = [&](std::span<const double> from, std::span<double> to, std::span<const std::int64_t> order) {
    for (std::size_t p = 0; p < order.size(); ++p) to[p] = from[std::size_t(order[p])];
  };
  for_each_(kernels().weights,
            [&](std::int64_t k) { collect(j_.values[int(k)], weights[std::size_t(k)], tree_of_j_.order()); });
  grids_of_j.go_up(weights, for_each_);
  if (kernels().both_sides) {
    points_of_i_.resize(int(axes), grids_of_i.points());
    grids_of_i.locate(points_of_i_.all(), for_each_);
  } else {
    points_of_i_.resize(int(axes) + kernels().factors, tree.count());
    for (int axis = 0; axis < int(axes); ++axis) std::ranges::copy(tree.coordinates(axis), points_of_i_[axis].begin());
    for (int k = 0; k < kernels().factors; ++k) collect(i_.values[k], points_of_i_[int(axes) + k], tree.order());
  }
  up_order_ = setting.order;
}

void FarRun::compute(const SumRequest& request, const FarSetting& setting, Of of) {
  make_lists(request, setting, of);
  go_up(setting);
  {
    const Timed timed(statistics_.seconds.near);
    totals_.resize(source_.outputs, request.ni);
    if (request.progress) request.progress->set_stage(0, 0.4);
    if (lists_are_new_) sums_.near().set_lists(near_lists_.arrays());
    sums_.sum_near(request, totals_.array());
  }
  {
    const Timed timed(statistics_.seconds.distant);
    distant_sums_.resize(kernels().sums, points_of_i_.count());
    if (request.progress) request.progress->set_stage(0.4, 1);
    if (lists_are_new_) sums_.distant().set_lists(distant_lists_.arrays());
    sums_.sum_distant(request, points_of_i_.array(), points_of_j_.array(), distant_sums_.array());
  }
  lists_are_new_ = false;
  const Timed timed(statistics_.seconds.down);
  const std::span<const char> cells =
      of == Of::Sampled ? std::span<const char>(sampled_cells_) : std::span<const char>();
  if (kernels().both_sides) FarGrids(tree_of_i(), setting.order).go_down(distant_sums_.all(), cells, for_each_);
  add_up();
  statistics_.order = setting.order;
  statistics_.leaf = setting.leaf;
  statistics_.precision = kernels().precision;
}

void FarRun::compute_all_pairs(const SumRequest& request, Of of) {
  const Timed timed(statistics_.seconds.near);
  lists_.reset();
  lists_are_new_ = true;
  sums_.near().clear_lists();
  totals_.resize(source_.outputs, request.ni);
  sums_.sum_near(of == Of::Sampled ? sample_.chosen_of(request) : request, totals_.array());
  statistics_.set_all_pairs(request.nj, kernels().precision);
}

// totals += factor * sum
void FarRun::add_up() {
  const FarTree& tree = tree_of_i();
  constexpr std::int64_t kChunk = 4096;
  const std::int64_t count = tree.count();
  for_each_((count + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
    for (const FarPart& part : kernels().parts) {
      const std::span<double> total = totals_[part.output], sum = distant_sums_[part.sum];
      const bool has_factor = part.factor >= 0 && kernels().both_sides;
      for (std::int64_t p = chunk * kChunk; p < std::min(count, (chunk + 1) * kChunk); ++p) {
        const auto i = std::size_t(tree.order()[std::size_t(p)]);
        total[i] += has_factor ? i_.values[part.factor][i] * sum[std::size_t(p)] : sum[std::size_t(p)];
      }
    }
  });
  for (const std::int64_t i : not_finite_)
    for (int output = 0; output < source_.outputs; ++output)
      totals_[output][std::size_t(i)] = std::numeric_limits<double>::quiet_NaN();
}

// Leaves are two thirds full.
FarMemory FarRun::memory(const SumRequest& request, const FarSetting& setting) {
  const FarKernels& k = kernels();
  const double grids = 3.0 / setting.leaf * std::pow(setting.order, k.axes);  // points for each particle
  const auto ni = double(request.ni), nj = double(request.nj);
  const double of_points =
      nj * (1 + grids) * (k.axes + k.weights) + ni * (1 + (k.both_sides ? grids : 0)) * (k.axes + k.factors + k.sums);
  const double of_particles = (ni + nj) * (4 + 3 * k.axes) + nj * k.weights + ni * (k.factors + 2 * source_.outputs);
  return {"host", std::int64_t(sizeof(double) * (of_points + of_particles)),
          std::int64_t(sysconf(_SC_PHYS_PAGES)) * std::int64_t(sysconf(_SC_PAGESIZE))};
}

double FarRun::error_of_sample() {
  const auto total = [&](std::size_t k, int c) { return totals_[c][std::size_t(sample_.particles()[k])]; };
  return sample_.error(total, statistics_);
}

void FarRun::finish(const SumRequest& request) {
  const Timed timed(statistics_.seconds.down);
  sums_.finish(request, totals_.array());
}

}  // namespace nbcc
