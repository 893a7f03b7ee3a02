// The steps of a sum with a far field in GPU memory. Interface: CudaFarRun, which CudaSummation::far_steps() makes.
#include "runtime/cuda/far/cuda_far_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "runtime/cuda/run/cuda_sum.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

using far_data::FarPositions;
using Seconds = FarStatistics::Seconds;

// Times as multiples of the time of a near pair, some 0.65 ps on an H100 (bench/RESULTS.md): a product with the value
// of a grid's polynomial; the other work for a point of a grid; to find a pair of cells and list it; the launches and
// waits of a run.
constexpr double kProduct = 0.1, kPoint = 150, kSettled = 400, kLaunches = 5e8;

const KernelVariant& lists_of(const KernelSource& source) { return *source.find(Frame::Lists); }
int i_of_item(const KernelSource& source) { return 32 * lists_of(source).launches.front().i_per_thread; }

}  // namespace

std::unique_ptr<FarSteps> CudaSummation::far_steps(Precision at_least) const {
  return std::make_unique<CudaFarRun>(kernel_, at_least);
}

CudaFarRun::CudaFarRun(const CudaKernel& kernel, Precision at_least)
    : kernel_(kernel),
      source_(kernel.source),
      gpu_(kernel.gpu()),
      sums_(kernel, at_least, false),
      table_(sums_.kernels(), sums_.measured(), kernel.source.fields),
      sample_(kernel.source),
      particles_(kernel, sums_),
      sort_(kernel),
      tree_of_i_(kernel, sums_.kernels().axes, sort_),
      tree_of_j_(kernel, sums_.kernels().axes, sort_),
      walk_(kernel, sort_),
      points_of_i_(gpu_),
      points_of_j_(gpu_),
      distant_(gpu_),
      totals_(gpu_),
      near_(gpu_) {
  walk_.set_items(i_of_item(kernels().near), i_of_item(kernels().distant));
}

CudaFarRun::~CudaFarRun() {
  try {
    const CudaContextGuard guard(gpu_);
    gpu_.synchronize(stream_);
  } catch (...) {
    // A GPU that has failed uses no memory.
  }
}

template <typename Body>
void CudaFarRun::timed(double Seconds::* seconds, const Body& body) {
  if (measured_stages_ == stages_.size()) stages_.emplace_back(gpu_);
  Stage& stage = stages_[measured_stages_];
  stage.seconds = seconds;
  stage.begin.record(stream_);
  body();
  stage.end.record(stream_);
  ++measured_stages_;
}

void CudaFarRun::reset_seconds() {
  measured_stages_ = 0;
  statistics_.seconds = {};
}

FarStatistics CudaFarRun::statistics() {
  const CudaContextGuard guard(gpu_);
  FarStatistics found = statistics_;
  if (measured_stages_ > 0) gpu_.synchronize(stream_);
  for (std::size_t k = 0; k < measured_stages_; ++k)
    found.seconds.*stages_[k].seconds += stages_[k].end.seconds_since(stages_[k].begin);
  return found;
}

SumRequest CudaFarRun::here(const SumRequest& request) const {
  SumRequest here = particles_.with_inputs(request);
  here.progress = nullptr;
  return here;
}

std::string CudaFarRun::prepare(const SumRequest& request, int leaf) {
  const CudaContextGuard guard(gpu_);
  stream_ = static_cast<CudaStream*>(request.stream);
  const int last_leaf = std::exchange(leaf_of_trees_, 0);  // these particles have no trees yet
  nj_ = request.nj;
  up_order_.reset();
  std::string obstacle;
  timed(&Seconds::particles, [&] { obstacle = particles_.find(request, stream_); });
  if (!obstacle.empty()) return obstacle;
  const bool one_tree = particles_.are_one_set() && particles_.chosen() == 0;
  // An i whose position is not finite may get one, or another i may lose its own.
  const bool unmoved = last_leaf > 0 && one_tree == one_tree_ && !particles_.leaves_out_i() &&
                       particles_.are_in(tree_of_i(), tree_of_j_);
  if (unmoved) {
    leaf_of_trees_ = last_leaf;
  } else {
    one_tree_ = one_tree;
    lists_.reset();
    timed(&Seconds::tree, [&] {
      tree_of_j_.build(particles_.positions_of_j(), 0, nj_, leaf, stream_);
      if (!one_tree_)
        tree_of_i_.build(particles_.positions_of_i(), particles_.chosen(), particles_.chosen_count(), leaf, stream_);
    });
    if (!tree_of_j_.is_finite()) return "a j has a position that is not finite";
  }
  if (kernels().needs_one_set && !(particles_.are_one_set() && request.i_offset == request.j_offset))
    return "the text compares i_index and j_index, but i and j are not the same particles";
  leaf_of_trees_ = unmoved ? last_leaf : leaf;
  set_leaf(leaf);
  return "";
}

void CudaFarRun::set_leaf(int leaf) {
  if (leaf == leaf_of_trees_) return;
  leaf_of_trees_ = leaf;
  lists_.reset();
  up_order_.reset();
  timed(&Seconds::tree, [&] {
    tree_of_j_.split_again(leaf, stream_);
    if (!one_tree_) tree_of_i_.split_again(leaf, stream_);
  });
}

bool CudaFarRun::has_moved_far() {
  const CudaContextGuard guard(gpu_);
  return particles_.have_moved(kFarMove * std::exp2(tree_of_j_.exponents().back()), kManyMoved);
}

bool CudaFarRun::have_values_changed(double spread) {
  const CudaContextGuard guard(gpu_);
  const auto [of_weights, of_factors] = particles_.change_of_norms();
  return !of_weights.is_rescaling(spread, false) || !of_factors.is_rescaling(spread, !kernels().both_sides);
}

std::string CudaFarRun::draw_sample(const SumRequest& request, std::int64_t wanted) {
  const CudaContextGuard guard(gpu_);
  particles_.keep_positions();
  if (leaf_of_trees_ > 0) particles_.keep_norms(tree_of_i(), tree_of_j_);
  const std::vector<std::int64_t> chosen =
      particles_.chosen() == 0 ? std::vector<std::int64_t>() : particles_.fetch_chosen();
  sample_.draw(particles_.chosen_count(), wanted,
               [&](std::int64_t k) { return chosen.empty() ? k : chosen[std::size_t(k)]; });
  if (sample_.particles().empty()) return "no i has a finite position";
  near_.resize(sample_.columns(), request.ni, "sums of a sample");
  sums_.sum_sample(particles_.with_inputs(request), sample_.particles(), near_.array());
  const bool has_finite = sample_.set_exact(particles_.picked(near_.array(), sample_.columns(), sample_.particles()));
  return has_finite ? "" : "the terms of no sampled i are finite";
}

std::string CudaFarRun::begin_table(const SumRequest& request) {
  const CudaContextGuard guard(gpu_);
  // Terms without a weight have no errors. Where weights are rare, few of many drawn j have one.
  constexpr std::int64_t kDrawn = 4096, kWanted = 64, kMostDraws = 256;
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> any_j(0, nj_ - 1);
  const auto of_one = std::ptrdiff_t(kernels().weights);
  std::vector<double> weights;
  for (std::int64_t draw = 0; draw < kMostDraws && std::int64_t(weights.size()) < kWanted * of_one; ++draw) {
    std::vector<std::int64_t> of_j;
    for (std::int64_t k = 0; k < kDrawn; ++k) of_j.push_back(any_j(random));
    const std::vector<double> drawn = particles_.picked(particles_.weights().array(), kernels().weights, of_j);
    for (auto row = drawn.begin(); row != drawn.end(); row += of_one)
      if (std::int64_t(weights.size()) < kWanted * of_one &&
          std::any_of(row, row + of_one, [](double w) { return w != 0; }))
        weights.insert(weights.end(), row, row + of_one);
  }
  if (weights.empty()) return fmt::format("all weights of {} drawn j are 0", kDrawn * kMostDraws);
  std::vector<std::int64_t> of_i;
  for (std::int64_t k = 0; k < kWanted; ++k)
    of_i.push_back(sample_.particles()[std::size_t(k) % sample_.particles().size()]);
  table_.begin(sums_.params(request), std::move(weights),
               particles_.picked(particles_.factors().array(), kernels().factors, of_i), sample_.typical_sizes());
  return "";
}

FarLimits CudaFarRun::limits(const FarSetting& setting) {
  const CudaContextGuard guard(gpu_);
  set_leaf(setting.leaf);
  std::set<int> found;
  for (CudaFarTree* tree : {&tree_of_j_, &tree_of_i()})
    for (const int exponent : tree->exponents())
      if (exponent > -1023 && exponent < 1024) found.insert(exponent);  // radii that are neither 0 nor infinite
  const std::vector<int> sizes(found.begin(), found.end());
  return table_.limits(sizes, setting);
}

void CudaFarRun::set_cells(int order, const FarLimits& limits) {
  const auto cells_of = [](CudaFarTree& tree) {
    return CudaFarCells{reinterpret_cast<const far_data::FarCell*>(tree.cells()), int(tree.cell_count()), tree.levels(),
                        tree.count()};
  };
  int grid = 1;
  for (int axis = 0; axis < kernels().axes; ++axis) grid *= order;
  walk_.set_cells(cells_of(tree_of_i()), cells_of(tree_of_j_), kernels().axes, kernels().both_sides, grid, limits,
                  stream_);
}

double CudaFarRun::cost(const FarSetting& setting) {
  const CudaContextGuard guard(gpu_);
  lists_.reset();
  set_cells(setting.order, limits(setting));
  const std::optional<CudaFarWalk::Counts> counts = walk_.count(stream_);
  if (!counts) return std::numeric_limits<double>::infinity();
  const double per_distant_pair = kernels().distant.operations / std::max(1.0, kernels().near.operations);
  const double pairs = counts->near_lanes + counts->distant_lanes * per_distant_pair;
  const double grid = std::pow(setting.order, kernels().axes);
  double products = double(nj_) * kernels().weights, points = double(tree_of_j_.cell_count()) * grid;
  if (kernels().both_sides) {
    products += double(particles_.chosen_count()) * kernels().sums;
    points += double(tree_of_i().cell_count()) * grid;
  }
  return pairs + kSettled * counts->settled + kProduct * products * grid + kPoint * points + kLaunches;
}

std::int64_t CudaFarRun::bytes_held() const {
  std::int64_t bytes = particles_.bytes() + walk_.bytes();
  for (const CudaFarColumns* columns : {&points_of_i_, &points_of_j_, &near_, &distant_, &totals_})
    bytes += columns->bytes();
  for (const CudaFarTree* tree : {&tree_of_i_, &tree_of_j_}) bytes += std::int64_t(tree->bytes());
  const std::int64_t packed =
      nj_ * lists_of(kernels().near).packed_bytes + points_of_j_.count() * lists_of(kernels().distant).packed_bytes;
  return bytes + std::int64_t(sort_.bytes()) + (lists_ ? packed : 0);
}

// The distributions of particles in bench/RESULTS.md have so many cells and entries.
FarMemory CudaFarRun::memory(const SumRequest& request, const FarSetting& setting) {
  const CudaContextGuard guard(gpu_);
  constexpr double kCellsPerLeaf = 3, kCell = 200, kListsOfCell = 2500, kAdditionalRows = 1.1, kSorted = 12;
  const FarKernels& k = kernels();
  const auto ni = double(request.i_count), nj = double(request.nj), all_i = double(request.ni);
  const bool one_tree = leaf_of_trees_ > 0 ? one_tree_ : request.ni == request.nj && request.i_count == request.ni;
  const double cells = kCellsPerLeaf / setting.leaf, grid = cells * std::pow(setting.order, k.axes);
  const double of_points_i = k.both_sides ? ni * (1 + grid) : ni;
  const double of_tree = 20 + 8 * k.axes + 8 + cells * kCell;
  double doubles = all_i * (k.axes + k.factors + source_.outputs) +
                   all_i * std::max(source_.outputs * kAdditionalRows, double(sample_.columns()));
  doubles += nj * (k.axes + k.weights) + nj * (1 + grid) * (k.axes + k.weights);
  doubles += of_points_i * k.sums * kAdditionalRows;
  doubles += nj + (k.factors > 0 ? ni : 0);  // the order of kept norms
  if (!one_tree || !k.both_sides) doubles += of_points_i * (k.axes + (k.both_sides ? 0 : k.factors));
  double bytes = 8 * doubles + (one_tree ? 0 : ni * of_tree) + nj * of_tree;
  bytes += std::max(std::max(ni, nj) * kSorted, ni * cells * kListsOfCell / 4) + ni * cells * kListsOfCell;
  bytes += nj * lists_of(k.near).packed_bytes + nj * (1 + grid) * lists_of(k.distant).packed_bytes;
  bytes += double(particles_.bytes_to_send(request));
  std::size_t free = 0, total = 0;
  gpu_.require(gpu_.driver().mem_get_info(&free, &total), "asking for the GPU's memory");
  return {fmt::format("cuda:{}", gpu_.ordinal()), std::int64_t(bytes), std::int64_t(free) + bytes_held()};
}

CudaFarGrids& CudaFarRun::grids(std::map<int, std::unique_ptr<CudaFarGrids>>& of_orders, CudaFarTree& tree, int order) {
  std::unique_ptr<CudaFarGrids>& made = of_orders[order];
  if (!made) made = std::make_unique<CudaFarGrids>(kernel_, kernels().axes, order);
  made->set_tree({reinterpret_cast<const far_data::FarCell*>(tree.cells()), tree.cell_count(), tree.count(),
                  reinterpret_cast<const long long*>(tree.order()), tree.coordinates()},
                 stream_);
  return *made;
}

// Nearly equal parts of the particles.
FarPositions CudaFarRun::positions_of(const Share& share) {
  const std::int64_t count = tree_of_i().count();
  return {count * share.index / share.count, count * (share.index + 1) / share.count};
}

void CudaFarRun::make_lists(const FarSetting& setting, const FarLimits& limits, const Share& share) {
  if (lists_ == Made{setting, share}) return;
  lists_.reset();
  timed(&Seconds::walk, [&] {
    set_cells(setting.order, limits);
    walk_.set_positions(positions_of(share));
    const CudaFarWalk::Counts counts = walk_.make_lists(stream_);
    pairs_of_lists_ = counts.all_pairs();
    statistics_.separation = limits.largest_ratio();
  });
  lists_ = Made{setting, share};
  lists_are_new_ = true;
}

void CudaFarRun::go_up(const FarSetting& setting) {
  if (up_order_ == setting.order) return;
  const int axes = kernels().axes;
  timed(&Seconds::up, [&] {
    CudaFarGrids& of_j = grids(grids_of_j_, tree_of_j_, setting.order);
    points_of_j_.resize(axes + kernels().weights, of_j.points(), "points");
    of_j.locate(points_of_j_.columns(), stream_);
    of_j.collect(particles_.weights().columns(), kernels().weights, points_of_j_.columns(axes), stream_);
    of_j.go_up(points_of_j_.columns(axes), kernels().weights, stream_);
    if (one_tree_ && kernels().both_sides) return;
    CudaFarGrids& of_i = grids(grids_of_i_, tree_of_i(), setting.order);
    if (kernels().both_sides) {
      points_of_i_.resize(axes, of_i.points(), "points");
      of_i.locate(points_of_i_.columns(), stream_);
    } else {
      points_of_i_.resize(axes + kernels().factors, tree_of_i().count(), "factors");
      for (int axis = 0; axis < axes; ++axis)
        gpu_.require(
            gpu_.driver().memcpy_async(reinterpret_cast<std::uintptr_t>(points_of_i_.columns(axis).data),
                                       reinterpret_cast<std::uintptr_t>(tree_of_i().coordinates().data +
                                                                        axis * tree_of_i().coordinates().stride),
                                       std::size_t(tree_of_i().count()) * sizeof(double), stream_),
            "copying coordinates");
      of_i.collect(particles_.factors().columns(), kernels().factors, points_of_i_.columns(axes), stream_);
    }
  });
  up_order_ = setting.order;
}

void CudaFarRun::clear(const CudaFarColumns& columns, int components) {
  gpu_.require(gpu_.driver().memset_d32_async(reinterpret_cast<std::uintptr_t>(columns.columns().data), 0,
                                              std::size_t(components) * std::size_t(columns.count()) * 2, stream_),
               "clearing sums");
}

FarArray CudaFarRun::make_totals() {
  const CudaContextGuard guard(gpu_);
  const std::int64_t ni = particles_.all_i();
  totals_.resize(source_.outputs, ni, "sums");
  if (particles_.leaves_out_i())
    gpu_.require(gpu_.driver().memset_d32_async(reinterpret_cast<std::uintptr_t>(totals_.columns().data), kHalfOfNaN,
                                                std::size_t(source_.outputs) * std::size_t(ni) * 2, stream_),
                 "clearing sums");
  return totals_.array();
}

// All i are summed even for a sample: that takes milliseconds.
void CudaFarRun::compute(const SumRequest& request, const FarSetting& setting, Of) {
  set_pairs(compute_share(request, setting, limits(setting), {}, make_totals()));
}

double CudaFarRun::compute_share(const SumRequest& request, const FarSetting& setting, const FarLimits& limits,
                                 const Share& share, const FarArray& totals) {
  const CudaContextGuard guard(gpu_);
  set_leaf(setting.leaf);
  const SumRequest here = this->here(request);
  make_lists(setting, limits, share);
  go_up(setting);
  timed(&Seconds::near, [&] {
    CudaFarWalk::Part near = walk_.near();
    near_.resize(source_.outputs, near.rows, "sums of near pairs");
    clear(near_, source_.outputs);
    near.lists.i_order = tree_of_i().order();
    near.lists.j_order = tree_of_j_.order();
    FarArray rows = near_.array();
    rows.count = particles_.all_i();
    sums_.sum_near(here, rows, lists_are_new_ ? &near.lists : nullptr);
    walk_.combine_near(near_.columns(), source_.outputs, stream_);
  });
  timed(&Seconds::distant, [&] {
    const CudaFarWalk::Part& distant = walk_.distant();
    distant_.resize(kernels().sums, distant.rows, "sums at grids");
    clear(distant_, kernels().sums);
    FarArray of_i = one_tree_ && kernels().both_sides ? points_of_j_.array() : points_of_i_.array(),
             rows = distant_.array();
    rows.count = of_i.count;
    sums_.sum_distant(here, of_i, points_of_j_.array(), rows, lists_are_new_ ? &distant.lists : nullptr);
    walk_.combine_distant(distant_.columns(), kernels().sums, stream_);
  });
  lists_are_new_ = false;
  timed(&Seconds::down, [&] {
    CudaFarGrids& of_i = one_tree_ && kernels().both_sides ? grids(grids_of_j_, tree_of_j_, setting.order)
                                                           : grids(grids_of_i_, tree_of_i(), setting.order);
    CudaFarGrids::Addition addition;
    addition.positions = positions_of(share);
    if (kernels().both_sides) of_i.go_down(distant_.columns(), kernels().sums, addition.positions, stream_);
    addition.totals = {totals.data, totals.stride};
    if (kernels().both_sides && kernels().factors > 0) addition.factors = particles_.factors().columns();
    addition.near = near_.columns();
    addition.sums = distant_.columns();
    addition.outputs = source_.outputs;
    of_i.add_up(kernels().parts, addition, stream_);
  });
  statistics_.order = setting.order;
  statistics_.leaf = setting.leaf;
  statistics_.precision = kernels().precision;
  return pairs_of_lists_;
}

void CudaFarRun::compute_all_pairs(const SumRequest& request, Of of) {
  {
    const CudaContextGuard guard(gpu_);
    totals_.resize(source_.outputs, request.ni, "sums");
  }
  compute_all_pairs_of_share(of == Of::Sampled ? sample_.chosen_of(request) : request, totals_.array());
}

void CudaFarRun::compute_all_pairs_of_share(const SumRequest& request, const FarArray& totals) {
  const CudaContextGuard guard(gpu_);
  lists_.reset();
  timed(&Seconds::near, [&] {
    sums_.near().clear_lists();
    sums_.sum_near(here(request), totals);
  });
  statistics_.set_all_pairs(nj_, kernels().precision);
}

double CudaFarRun::error_of_sample() {
  const CudaContextGuard guard(gpu_);
  const std::vector<double> totals = particles_.picked(totals_.array(), source_.outputs, sample_.particles());
  const auto total = [&](std::size_t k, int c) { return totals[k * std::size_t(source_.outputs) + std::size_t(c)]; };
  return sample_.error(total, statistics_);
}

// Inputs of i that are on the host are read there, as outputs on the host are written there.
void CudaFarRun::finish(const SumRequest& request) {
  const CudaContextGuard guard(gpu_);
  timed(&Seconds::down, [&] { sums_.finish(request, totals_.array()); });
}

void CudaFarRun::wait() {
  const CudaContextGuard guard(gpu_);
  gpu_.synchronize(stream_);
}

}  // namespace nbcc
