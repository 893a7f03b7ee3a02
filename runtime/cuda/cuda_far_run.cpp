// The steps of a sum with a far field in GPU memory. Interface: CudaFarRun, which CudaSummation::far_steps() makes.
#include "runtime/cuda/cuda_far_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "fmt/format.h"
#include "runtime/cuda/cuda_residency.h"
#include "runtime/cuda/cuda_sum.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

using far_data::FarError;
using Seconds = FarStatistics::Seconds;

// Times as multiples of the time of a near pair, some 0.6 ps on an H100 (bench/RESULTS.md): a product with the value of
// a grid's polynomial; the other work for a point of a grid; the launches and waits of a run.
constexpr double kProduct = 0.1, kPoint = 150, kLaunches = 5e8;

int i_of_item(const KernelSource& source) { return 32 * source.find(Frame::Lists)->launches.front().i_per_thread; }

}  // namespace

std::unique_ptr<FarSteps> CudaSummation::far_steps(Precision at_least) const {
  return std::make_unique<CudaFarRun>(kernel_, at_least);
}

void CudaFarRun::Columns::resize(int components, std::int64_t count, const char* what) {
  reserve_elements(memory_, std::int64_t(components) * count + 1, sizeof(double), what);
  count_ = count;
}

CudaFarRun::CudaFarRun(const CudaKernel& kernel, Precision at_least)
    : kernel_(kernel),
      source_(kernel.source),
      gpu_(kernel.gpu()),
      sums_(kernel, at_least, false),
      table_(sums_.kernels(), sums_.measured(), kernel.source.fields),
      sample_(kernel.source),
      sort_(kernel),
      tree_of_i_(kernel, sums_.kernels().axes, sort_),
      tree_of_j_(kernel, sums_.kernels().axes, sort_),
      walk_(kernel, sort_),
      inputs_(gpu_, source_),
      pinned_(gpu_),
      positions_of_i_{CudaBuffer(gpu_), CudaBuffer(gpu_)},
      positions_of_j_{CudaBuffer(gpu_), CudaBuffer(gpu_)},
      sampled_position_of_i_(gpu_),
      sampled_position_of_j_(gpu_),
      chosen_(gpu_),
      picked_(gpu_),
      rows_(gpu_),
      flags_(gpu_),
      centres_on_device_(gpu_),
      weights_(gpu_),
      factors_(gpu_),
      points_of_i_(gpu_),
      points_of_j_(gpu_),
      near_(gpu_),
      distant_(gpu_),
      totals_(gpu_),
      exact_(gpu_) {
  int outputs = 0;
  for (const FieldLayout& field : source_.fields) outputs += field.role == Role::Output ? 1 : 0;
  if (outputs > far_data::kMaxOutputs)
    throw UsageError(fmt::format("tolerance: on a GPU a pipeline has a far field with at most {} outputs, '{}' has {}",
                                 far_data::kMaxOutputs, source_.pipeline, outputs));
}

CudaFarRun::~CudaFarRun() {
  try {
    const CudaContextGuard guard(gpu_);
    gpu_.synchronize(stream_);
    for (const Stage& stage : stages_)
      for (CudaEvent* event : {stage.begin, stage.end}) gpu_.driver().event_destroy(event);
    for (CudaEvent* event : idle_events_) gpu_.driver().event_destroy(event);
  } catch (...) {
    // A GPU that has failed uses no memory.
  }
}

template <typename Body>
void CudaFarRun::timed(double Seconds::* seconds, const Body& body) {
  const auto event = [&] {
    CudaEvent* made = nullptr;
    if (!idle_events_.empty()) {
      made = idle_events_.back();
      idle_events_.pop_back();
    } else {
      gpu_.require(gpu_.driver().event_create(&made, 0), "creating an event");
    }
    gpu_.require(gpu_.driver().event_record(made, stream_), "recording an event");
    return made;
  };
  Stage stage{seconds, event()};
  body();
  stage.end = event();
  stages_.push_back(stage);
}

void CudaFarRun::reset_seconds() {
  for (const Stage& stage : stages_) idle_events_.insert(idle_events_.end(), {stage.begin, stage.end});
  stages_.clear();
  statistics_.seconds = {};
}

FarStatistics CudaFarRun::statistics() {
  const CudaContextGuard guard(gpu_);
  FarStatistics found = statistics_;
  if (!stages_.empty()) gpu_.synchronize(stream_);
  for (const Stage& stage : stages_) {
    float milliseconds = 0;
    gpu_.require(gpu_.driver().event_elapsed_time(&milliseconds, stage.begin, stage.end), "reading an event");
    found.seconds.*stage.seconds += double(milliseconds) / 1000;
  }
  return found;
}

void CudaFarRun::send_chosen(const SumRequest& request) {
  chosen_on_host_.clear();
  if (!request.i_list && request.i_count == request.ni) return;
  if (request.i_list && residency_of(gpu_, request.i_list, "i_list") == Residency::Device) {
    chosen_on_host_.resize(std::size_t(request.i_count));
    gpu_.fetch(chosen_on_host_.data(), reinterpret_cast<std::uintptr_t>(request.i_list),
               chosen_on_host_.size() * sizeof(std::int64_t), stream_);
    gpu_.synchronize(stream_);
  } else {
    for (std::int64_t k = 0; k < request.i_count; ++k)
      chosen_on_host_.push_back(request.i_list ? request.i_list[k] : request.i_begin + k);
  }
  reserve_elements(chosen_, request.i_count, sizeof(std::int64_t), "chosen i");
  gpu_.send(chosen_.data(), chosen_on_host_.data(), chosen_on_host_.size() * sizeof(std::int64_t), stream_);
  gpu_.synchronize(stream_);
}

std::string CudaFarRun::prepare(const SumRequest& request, int leaf) {
  const CudaContextGuard guard(gpu_);
  stream_ = static_cast<CudaStream*>(request.stream);
  const int axes = kernels().axes;
  const int last_leaf = std::exchange(leaf_of_trees_, 0);  // these particles have no trees yet
  inputs_.take(request, stream_);
  SumRequest here = request;
  here.views = inputs_.views();
  const std::int64_t last_ni = std::exchange(ni_, request.ni), last_nj = std::exchange(nj_, request.nj);
  const std::vector<std::int64_t> last_chosen = chosen_on_host_;
  const std::int64_t last_i_count = std::exchange(i_count_, request.i_count);
  unsigned flags[6] = {};  // of check(): positions of i and j, weights, positions of i and of j in the last run
  timed(&Seconds::particles, [&] {
    up_order_.reset();
    turn_ = 1 - turn_;
    reserve_elements(positions_of_i_[turn_], ni_ * axes, sizeof(double), "positions");
    reserve_elements(positions_of_j_[turn_], nj_ * axes, sizeof(double), "positions");
    weights_.resize(kernels().weights, nj_, "weights");
    factors_.resize(kernels().factors, ni_, "factors");
    centres_.resize(std::size_t(kernels().centres));
    sums_.find_centres(here, centres_);
    reserve_elements(centres_on_device_, std::int64_t(centres_.size()) + 1, sizeof(double), "means");
    if (!centres_.empty()) {
      gpu_.send(centres_on_device_.data(), centres_.data(), centres_.size() * sizeof(double), stream_);
      gpu_.synchronize(stream_);
    }
    const auto* const centres = reinterpret_cast<const double*>(centres_on_device_.data());
    const auto doubles = [](const CudaBuffer& buffer) { return reinterpret_cast<double*>(buffer.data()); };
    double *const of_i = doubles(positions_of_i_[turn_]), *const of_j = doubles(positions_of_j_[turn_]);
    sums_.find_sources(here, of_j, weights_.array(), centres);
    sums_.find_targets(here, of_i, factors_.array(), centres);
    send_chosen(request);
    reserve_elements(flags_, 8, sizeof(unsigned), "flags");
    gpu_.require(gpu_.driver().memset_d32_async(flags_.data(), 0, 8, stream_), "clearing flags");
    const double* const others = ni_ == nj_ ? of_j : nullptr;
    walk_.check(of_i, others, ni_ * axes, flags_.data(), stream_);
    const FarArray weights = weights_.array();
    if (kernels().weights > 0)
      walk_.check(weights.data, nullptr, nj_ * kernels().weights, flags_.data() + 2 * sizeof(unsigned), stream_);
    if (last_leaf > 0 && ni_ == last_ni && nj_ == last_nj) {
      walk_.check(of_i, doubles(positions_of_i_[1 - turn_]), ni_ * axes, flags_.data() + 4 * sizeof(unsigned), stream_);
      walk_.check(of_j, doubles(positions_of_j_[1 - turn_]), nj_ * axes, flags_.data() + 4 * sizeof(unsigned), stream_);
    }
    pinned_.reserve(sizeof flags);
    gpu_.fetch(pinned_.data(), flags_.data(), sizeof flags, stream_);
    gpu_.synchronize(stream_);
    std::memcpy(flags, pinned_.data(), sizeof flags);
  });
  if (flags[3] != 0) return "a weight is not finite";
  const bool one_set = ni_ == nj_ && flags[0] == 0;
  if (kernels().needs_one_set && !(one_set && request.i_offset == request.j_offset))
    return "the text compares i_index and j_index, but i and j are not the same particles";
  const bool one_tree = one_set && chosen_on_host_.empty();
  const bool unmoved = last_leaf > 0 && ni_ == last_ni && nj_ == last_nj && flags[4] == 0 && one_tree == one_tree_ &&
                       i_count_ == last_i_count && chosen_on_host_ == last_chosen;
  if (unmoved) {
    leaf_of_trees_ = last_leaf;
    set_leaf(leaf);
    return "";
  }
  one_tree_ = one_tree;
  lists_.reset();
  timed(&Seconds::tree, [&] {
    tree_of_j_.build(positions_of_j_[turn_].data(), 0, nj_, leaf, stream_);
    if (!one_tree_)
      tree_of_i_.build(positions_of_i_[turn_].data(), chosen_on_host_.empty() ? 0 : chosen_.data(), i_count_, leaf,
                       stream_);
  });
  for (CudaFarTree* tree : {&tree_of_j_, &tree_of_i()})
    if (!tree->is_finite()) return fmt::format("a position of {} is not finite", tree == &tree_of_j_ ? "j" : "i");
  leaf_of_trees_ = leaf;
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

// Rows of the picked particles' columns, on the host.
std::vector<double> CudaFarRun::picked(const FarArray& columns, int count, std::span<const std::int64_t> particles) {
  const auto rows = std::int64_t(particles.size());
  std::vector<double> values(std::size_t(rows * count));
  if (values.empty()) return values;
  reserve_elements(picked_, rows, sizeof(std::int64_t), "numbers of a sample");
  reserve_elements(rows_, rows * count, sizeof(double), "a sample");
  gpu_.send(picked_.data(), particles.data(), particles.size_bytes(), stream_);
  walk_.pick({columns.data, columns.stride}, count, picked_.data(), rows, rows_.data(), stream_);
  gpu_.fetch(values.data(), rows_.data(), values.size() * sizeof(double), stream_);
  gpu_.synchronize(stream_);
  return values;
}

bool CudaFarRun::has_moved_far() {
  if (ni_ != sampled_ni_ || nj_ != sampled_nj_) return true;
  const CudaContextGuard guard(gpu_);
  const double far = kFarMove * std::exp2(tree_of_j_.exponents().back());
  gpu_.require(gpu_.driver().memset_d32_async(flags_.data(), 0, 2, stream_), "clearing flags");
  const auto count = [&](const CudaBuffer& now, const CudaBuffer& then, std::int64_t particles, int flag) {
    walk_.count_moved(reinterpret_cast<const double*>(now.data()), reinterpret_cast<const double*>(then.data()),
                      particles, kernels().axes, far, flags_.data() + std::uint64_t(flag) * sizeof(unsigned), stream_);
  };
  count(positions_of_i_[turn_], sampled_position_of_i_, ni_, 0);
  count(positions_of_j_[turn_], sampled_position_of_j_, nj_, 1);
  unsigned moved[2];
  gpu_.fetch(pinned_.data(), flags_.data(), sizeof moved, stream_);
  gpu_.synchronize(stream_);
  std::memcpy(moved, pinned_.data(), sizeof moved);
  return double(moved[0]) > kManyMoved * double(ni_) || double(moved[1]) > kManyMoved * double(nj_);
}

std::string CudaFarRun::draw_sample(const SumRequest& request) {
  const CudaContextGuard guard(gpu_);
  const auto keep = [&](const CudaBuffer& from, CudaBuffer& to, std::int64_t particles) {
    const std::int64_t numbers = particles * kernels().axes;
    reserve_elements(to, numbers, sizeof(double), "positions");
    gpu_.require(gpu_.driver().memcpy_async(to.data(), from.data(), std::size_t(numbers) * sizeof(double), stream_),
                 "copying positions");
  };
  keep(positions_of_i_[turn_], sampled_position_of_i_, sampled_ni_ = ni_);
  keep(positions_of_j_[turn_], sampled_position_of_j_, sampled_nj_ = nj_);
  const auto chosen = [&](std::int64_t k) { return chosen_on_host_.empty() ? k : chosen_on_host_[std::size_t(k)]; };
  sample_.draw(i_count_, nj_, chosen);
  exact_.resize(sample_.columns(), ni_, "sums of a sample");
  SumRequest here = request;
  here.views = inputs_.views();
  sums_.sum_sample(here, sample_.particles(), exact_.array());
  if (!sample_.set_exact(picked(exact_.array(), sample_.columns(), sample_.particles())))
    return "the terms of no sampled i are finite";
  if (params_of_table_ && std::ranges::equal(*params_of_table_, request.params)) return "";
  // Terms without a weight have no errors. Where weights are rare, few of many drawn j have one.
  constexpr std::int64_t kDrawn = 4096, kWanted = 64;
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> any_j(0, nj_ - 1);
  std::vector<std::int64_t> of_j, of_i;
  for (std::int64_t k = 0; k < kDrawn; ++k) of_j.push_back(nj_ <= kDrawn ? k % nj_ : any_j(random));
  const std::vector<double> drawn = picked(weights_.array(), kernels().weights, of_j);
  const auto of_one = std::ptrdiff_t(kernels().weights);
  std::vector<double> weights;
  for (auto row = drawn.begin(); row != drawn.end(); row += of_one)
    if (std::int64_t(weights.size()) < kWanted * of_one &&
        std::any_of(row, row + of_one, [](double w) { return w != 0; }))
      weights.insert(weights.end(), row, row + of_one);
  if (weights.empty()) return "all weights of the drawn j are 0";
  for (std::int64_t k = 0; k < kWanted; ++k)
    of_i.push_back(sample_.particles()[std::size_t(k) % sample_.particles().size()]);
  params_of_table_.emplace(request.params.begin(), request.params.end());
  table_.begin(sums_.params(request), std::move(weights), picked(factors_.array(), kernels().factors, of_i));
  return "";
}

// The limits of the walk, from errors of interpolation in cells of all sizes that occur.
void CudaFarRun::set_cells(const FarSetting& setting) {
  CudaFarLimits limits;
  limits.separation = setting.separation;
  limits.relative = setting.limit;
  limits.outputs = int(sample_.typical_sizes().size());
  for (const double size : sample_.typical_sizes()) limits.absolute.push_back(size * setting.limit / 100);
  if (setting.separation == 0) {
    int first = std::numeric_limits<int>::max(), last = std::numeric_limits<int>::min();
    for (CudaFarTree* tree : {&tree_of_j_, &tree_of_i()})
      for (const int exponent : tree->exponents()) {
        if (exponent <= -1023) continue;  // cells without extent
        first = std::min(first, exponent);
        last = std::max(last, exponent);
      }
    limits.first_size = first;
    for (int size = first; size <= last; ++size) {
      const FarErrors& errors = table_.errors(size, setting.order);
      for (const auto& of_output : errors.of_output)
        for (const FarErrors::One& one : of_output)
          limits.errors.push_back(
              {float(one.relative), one.vanishes ? float(one.absolute) : std::numeric_limits<float>::infinity()});
    }
  }
  const auto cells_of = [](CudaFarTree& tree) {
    return CudaFarCells{reinterpret_cast<const far_data::FarCell*>(tree.cells()), int(tree.cell_count()), tree.levels(),
                        tree.count()};
  };
  int grid = 1;
  for (int axis = 0; axis < kernels().axes; ++axis) grid *= setting.order;
  walk_.set_cells(cells_of(tree_of_i()), cells_of(tree_of_j_), kernels().axes, kernels().both_sides, grid, limits,
                  stream_);
}

double CudaFarRun::cost(const FarSetting& setting) {
  const CudaContextGuard guard(gpu_);
  set_leaf(setting.leaf);
  set_cells(setting);
  lists_.reset();
  const CudaFarWalk::Counts counts = walk_.count(stream_);
  const double per_distant_pair = kernels().distant.operations / std::max(1.0, kernels().near.operations);
  const double near = counts.pairs[0], distant = counts.all_pairs() - near;
  const double grid = std::pow(setting.order, kernels().axes);
  double products = double(nj_) * kernels().weights, points = double(tree_of_j_.cell_count()) * grid;
  if (kernels().both_sides) {
    products += double(i_count_) * kernels().sums;
    points += double(tree_of_i().cell_count()) * grid;
  }
  return near + distant * per_distant_pair + kProduct * products * grid + kPoint * points + kLaunches;
}

CudaFarGrids& CudaFarRun::grids(std::map<int, std::unique_ptr<CudaFarGrids>>& of_orders, CudaFarTree& tree, int order) {
  std::unique_ptr<CudaFarGrids>& made = of_orders[order];
  if (!made) made = std::make_unique<CudaFarGrids>(kernel_, kernels().axes, order);
  made->set_tree({reinterpret_cast<const far_data::FarCell*>(tree.cells()), tree.cell_count(), tree.count(),
                  reinterpret_cast<const long long*>(tree.order()), tree.coordinates()},
                 stream_);
  return *made;
}

void CudaFarRun::make_lists(const FarSetting& setting) {
  set_leaf(setting.leaf);
  if (lists_ == setting) return;
  timed(&Seconds::walk, [&] {
    set_cells(setting);
    const CudaFarWalk::Counts counts =
        walk_.make_lists(i_of_item(kernels().near), i_of_item(kernels().distant), stream_);
    statistics_.pairs_per_i = counts.all_pairs() / double(i_count_);
    statistics_.separation = counts.largest_ratio;
  });
  lists_ = setting;
  lists_are_new_ = true;
}

void CudaFarRun::go_up(const FarSetting& setting) {
  if (up_order_ == setting.order) return;
  const int axes = kernels().axes;
  timed(&Seconds::up, [&] {
    CudaFarGrids& of_j = grids(grids_of_j_, tree_of_j_, setting.order);
    points_of_j_.resize(axes + kernels().weights, of_j.points(), "points");
    of_j.locate(points_of_j_.columns(), stream_);
    of_j.collect(weights_.columns(), kernels().weights, points_of_j_.columns(axes), stream_);
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
      of_i.collect(factors_.columns(), kernels().factors, points_of_i_.columns(axes), stream_);
    }
  });
  up_order_ = setting.order;
}

// All i are summed even for a sample: that takes milliseconds.
void CudaFarRun::compute(const SumRequest& request, const FarSetting& setting, Of) {
  const CudaContextGuard guard(gpu_);
  SumRequest here = request;
  here.views = inputs_.views();
  here.progress = nullptr;
  make_lists(setting);
  go_up(setting);
  const auto clear = [&](const Columns& columns, int components) {
    gpu_.require(gpu_.driver().memset_d32_async(reinterpret_cast<std::uintptr_t>(columns.columns().data), 0,
                                                std::size_t(components) * std::size_t(columns.count()) * 2, stream_),
                 "clearing sums");
  };
  timed(&Seconds::near, [&] {
    CudaFarWalk::Part near = walk_.near();
    near_.resize(source_.outputs, near.rows, "sums of near pairs");
    clear(near_, source_.outputs);
    near.lists.i_order = tree_of_i().order();
    near.lists.j_order = tree_of_j_.order();
    FarArray rows = near_.array();
    rows.count = ni_;
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
    if (kernels().both_sides) of_i.go_down(distant_.columns(), kernels().sums, nullptr, stream_);
    totals_.resize(source_.outputs, ni_, "sums");
    CudaFarGrids::Addition addition;
    addition.totals = totals_.columns();
    if (kernels().both_sides && kernels().factors > 0) addition.factors = factors_.columns();
    addition.near = near_.columns();
    addition.sums = distant_.columns();
    addition.outputs = source_.outputs;
    of_i.add_up(kernels().parts, addition, stream_);
  });
  statistics_.order = setting.order;
  statistics_.leaf = setting.leaf;
  statistics_.precision = kernels().precision;
}

void CudaFarRun::compute_all_pairs(const SumRequest& request) {
  const CudaContextGuard guard(gpu_);
  SumRequest here = request;
  here.views = inputs_.views();
  here.progress = nullptr;
  lists_.reset();
  timed(&Seconds::near, [&] {
    sums_.near().clear_lists();
    totals_.resize(source_.outputs, ni_, "sums");
    sums_.sum_near(here, totals_.array());
  });
  statistics_.set_all_pairs(nj_, kernels().precision);
}

double CudaFarRun::error_of_sample() {
  const CudaContextGuard guard(gpu_);
  const std::vector<double> totals = picked(totals_.array(), source_.outputs, sample_.particles());
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
