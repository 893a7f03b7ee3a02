// Launches of a sum with a far field. Interface: CudaFarBackend, which CudaSummation::far_backends() makes.
#include "runtime/cuda/far/cuda_far_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmt/format.h"
#include "runtime/cuda/program/cuda_residency.h"
#include "runtime/cuda/run/cuda_sum.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

const KernelVariant& lists_of(const KernelSource& source) { return *source.find(Frame::Lists); }
int i_of_item(const KernelSource& source) { return 32 * lists_of(source).launches.front().i_per_thread; }

}  // namespace

std::vector<std::shared_ptr<FarBackend>> CudaSummation::far_backends(Precision at_least) const {
  return {std::make_shared<CudaFarBackend>(kernel_, at_least)};
}

CudaFarBackend::CudaFarBackend(const CudaKernel& kernel, Precision at_least)
    : FarBackend(kernel, at_least, false),
      kernel_(kernel),
      gpu_(kernel.gpu()),
      values_(kernel, kernels(), particles_),
      sort_(kernel),
      tree_of_i_(kernel, kernels().axes, sort_),
      tree_of_j_(kernel, kernels().axes, sort_),
      walk_(kernel, sort_),
      points_of_i_(gpu_),
      points_of_j_(gpu_),
      distant_(gpu_),
      totals_(gpu_),
      near_(gpu_) {
  walk_.set_items(i_of_item(kernels().near), i_of_item(kernels().distant));
}

CudaFarBackend::~CudaFarBackend() {
  try {
    wait(stream_);
  } catch (...) {
    // A GPU that has failed uses no memory.
  }
}

void CudaFarBackend::wait(void* stream) {
  const CudaContextGuard guard(gpu_);
  gpu_.synchronize(static_cast<CudaStream*>(stream));
}

bool CudaFarBackend::holds(const ArrayView& view) const {
  const CudaContextGuard guard(gpu_);
  const CudaPointer pointer = find_pointer(gpu_, view.data);
  return pointer.on_gpu && !pointer.managed && pointer.ordinal == gpu_.ordinal();
}

void CudaFarBackend::mark(std::size_t k) {
  const CudaContextGuard guard(gpu_);
  while (marks_.size() <= k) marks_.emplace_back(gpu_, kCudaTiming);
  marks_[k].record(stream_);
}

double CudaFarBackend::seconds_between(std::size_t first, std::size_t second) {
  const CudaContextGuard guard(gpu_);
  return marks_[second].seconds_since(marks_[first]);
}

// ---- particles ------------------------------------------------------------------------------------------------------

void CudaFarBackend::reserve_particles(const SumRequest& request) {
  const CudaContextGuard guard(gpu_);
  stream_ = static_cast<CudaStream*>(request.stream);
  values_.reserve(request, stream_);
}

// Without progress, which would divide sums into slices.
SumRequest CudaFarBackend::with_inputs(const SumRequest& request) const {
  SumRequest here = values_.with_inputs(request);
  here.progress = nullptr;
  return here;
}

const double* CudaFarBackend::send_centres(std::span<const double> centres) {
  const CudaContextGuard guard(gpu_);
  return values_.send(centres);
}

std::string CudaFarBackend::check_particles() {
  const CudaContextGuard guard(gpu_);
  return values_.check();
}

std::vector<std::int64_t> CudaFarBackend::chosen_i() const {
  const CudaContextGuard guard(gpu_);
  return values_.chosen() == 0 ? std::vector<std::int64_t>() : values_.fetch_chosen();
}

void CudaFarBackend::keep_values(bool has_trees) {
  const CudaContextGuard guard(gpu_);
  values_.keep_positions();
  if (has_trees) values_.keep_norms(tree_of_i(), tree_of_j_);
}

bool CudaFarBackend::have_moved(double far, double share) {
  const CudaContextGuard guard(gpu_);
  return values_.have_moved(far, share);
}

std::pair<FarChange, FarChange> CudaFarBackend::change_of_norms() {
  const CudaContextGuard guard(gpu_);
  return values_.change_of_norms();
}

std::vector<double> CudaFarBackend::rows(const FarArray& columns, int components,
                                         std::span<const std::int64_t> particles) {
  const CudaContextGuard guard(gpu_);
  return values_.picked(columns, components, particles);
}

// ---- trees ----------------------------------------------------------------------------------------------------------

// An i whose position is not finite may get one, or another i may lose its own.
bool CudaFarBackend::are_in_trees() {
  const CudaContextGuard guard(gpu_);
  return !values_.leaves_out_i() && values_.are_in(tree_of_i(), tree_of_j_);
}

bool CudaFarBackend::build_trees(bool one_tree, int leaf) {
  const CudaContextGuard guard(gpu_);
  one_tree_ = one_tree;
  const auto address = [](const double* positions) { return reinterpret_cast<std::uintptr_t>(positions); };
  tree_of_j_.build(address(particles_.position_of_j), 0, particles_.nj, leaf, stream_);
  if (!one_tree_)
    tree_of_i_.build(address(particles_.position_of_i), values_.chosen(), particles_.chosen, leaf, stream_);
  return tree_of_j_.is_finite();
}

void CudaFarBackend::split_trees(int leaf) {
  tree_of_j_.split_again(leaf, stream_);
  if (!one_tree_) tree_of_i_.split_again(leaf, stream_);
}

std::vector<int> CudaFarBackend::cell_sizes(bool of_i) const {
  const std::span<const int> exponents = (of_i ? tree_of_i() : tree_of_j_).exponents();
  return {exponents.begin(), exponents.end()};
}

// ---- lists ----------------------------------------------------------------------------------------------------------

// A near pair takes some 0.65 ps on an H100 (bench/RESULTS.md).
FarCosts CudaFarBackend::costs() const { return {.product = 0.1, .point = 150, .settled = 400, .launches = 5e8}; }

void CudaFarBackend::set_cells(int order, const FarLimits& limits) {
  const auto cells_of = [](const CudaFarTree& tree) {
    return CudaFarCells{reinterpret_cast<const far_data::FarCell*>(tree.cells()), int(tree.cell_count()), tree.levels(),
                        tree.count()};
  };
  int grid = 1;
  for (int axis = 0; axis < kernels().axes; ++axis) grid *= order;
  walk_.set_cells(cells_of(tree_of_i()), cells_of(tree_of_j_), kernels().axes, kernels().both_sides, grid, limits,
                  stream_);
}

FarCounts CudaFarBackend::count_pairs(int order, const FarLimits& limits) {
  const CudaContextGuard guard(gpu_);
  set_cells(order, limits);
  FarCounts counts = walk_.count(stream_);
  std::int64_t cells = tree_of_j_.cell_count();
  if (kernels().both_sides) cells += tree_of_i().cell_count();
  counts.points = double(cells) * std::pow(order, kernels().axes);
  return counts;
}

far_data::FarPositions CudaFarBackend::positions_of(const FarShare& share) const {
  return {share.begin(tree_of_i().count()), share.end(tree_of_i().count())};
}

FarCounts CudaFarBackend::make_lists(int order, const FarLimits& limits, std::span<const std::int64_t>,
                                     const FarShare& share) {
  const CudaContextGuard guard(gpu_);
  has_lists_ = true;
  set_cells(order, limits);
  walk_.set_positions(positions_of(share));
  return walk_.make_lists(stream_);
}

// ---- sums -----------------------------------------------------------------------------------------------------------

void CudaFarBackend::fill(const CudaFarColumns& columns, int components, unsigned pattern) {
  gpu_.require(gpu_.driver().memset_d32_async(reinterpret_cast<std::uintptr_t>(columns.columns().data), pattern,
                                              std::size_t(components) * std::size_t(columns.count()) * 2, stream_),
               "clearing sums");
}

FarArray CudaFarBackend::reserve_sums(Sums which, int components) {
  const CudaContextGuard guard(gpu_);
  CudaFarColumns& columns = which == Sums::Totals ? totals_ : near_;
  columns.resize(components, particles_.ni, which == Sums::Totals ? "sums" : "sums of a sample");
  if (which == Sums::Totals && values_.leaves_out_i()) fill(totals_, components, kHalfOfNaN);
  return columns.array();
}

CudaFarGrids& CudaFarBackend::grids(GridsByOrder& of_orders, const CudaFarTree& tree, int order) {
  std::unique_ptr<CudaFarGrids>& made = of_orders[order];
  if (!made) made = std::make_unique<CudaFarGrids>(kernel_, kernels().axes, order);
  made->set_tree({reinterpret_cast<const far_data::FarCell*>(tree.cells()), tree.cell_count(), tree.count(),
                  reinterpret_cast<const long long*>(tree.order()), tree.coordinates()},
                 stream_);
  return *made;
}

void CudaFarBackend::go_up(int order) {
  const CudaContextGuard guard(gpu_);
  const int axes = kernels().axes;
  CudaFarGrids& of_j = grids(grids_of_j_, tree_of_j_, order);
  points_of_j_.resize(axes + kernels().weights, of_j.points(), "points");
  of_j.locate(points_of_j_.columns(), stream_);
  of_j.collect(values_.weights().columns(), kernels().weights, points_of_j_.columns(axes), stream_);
  of_j.go_up(points_of_j_.columns(axes), kernels().weights, stream_);
  if (has_one_grid()) return;
  const CudaFarTree& tree = tree_of_i();
  CudaFarGrids& of_i = grids(grids_of_i_, tree, order);
  if (kernels().both_sides) {
    points_of_i_.resize(axes, of_i.points(), "points");
    return of_i.locate(points_of_i_.columns(), stream_);
  }
  points_of_i_.resize(axes + kernels().factors, tree.count(), "factors");
  for (int axis = 0; axis < axes; ++axis)
    gpu_.require(gpu_.driver().memcpy_async(
                     reinterpret_cast<std::uintptr_t>(points_of_i_.columns(axis).data),
                     reinterpret_cast<std::uintptr_t>(tree.coordinates().data + axis * tree.coordinates().stride),
                     std::size_t(tree.count()) * sizeof(double), stream_),
                 "copying coordinates");
  of_i.collect(values_.factors().columns(), kernels().factors, points_of_i_.columns(axes), stream_);
}

// Near sums are in the order of the tree until go_down().
void CudaFarBackend::sum_near(const SumRequest& request, const FarArray&, bool lists_are_new) {
  const CudaContextGuard guard(gpu_);
  CudaFarWalk::Part near = walk_.near();
  near_.resize(source_.outputs, near.rows, "sums of near pairs");
  fill(near_, source_.outputs, 0);
  near.lists.i_order = tree_of_i().order();
  near.lists.j_order = tree_of_j_.order();
  FarArray rows = near_.array();
  rows.count = particles_.ni;
  sums_.sum_near(request, rows, lists_are_new ? &near.lists : nullptr);
  walk_.combine_near(near_.columns(), source_.outputs, stream_);
}

void CudaFarBackend::sum_distant(const SumRequest& request, bool lists_are_new) {
  const CudaContextGuard guard(gpu_);
  const CudaFarWalk::Part& distant = walk_.distant();
  distant_.resize(kernels().sums, distant.rows, "sums at grids");
  fill(distant_, kernels().sums, 0);
  const FarArray of_i = (has_one_grid() ? points_of_j_ : points_of_i_).array();
  FarArray rows = distant_.array();
  rows.count = of_i.count;
  sums_.sum_distant(request, of_i, points_of_j_.array(), rows, lists_are_new ? &distant.lists : nullptr);
  walk_.combine_distant(distant_.columns(), kernels().sums, stream_);
}

void CudaFarBackend::go_down(int order, const FarArray& totals, const FarShare& share) {
  const CudaContextGuard guard(gpu_);
  CudaFarGrids& of_i = grids(has_one_grid() ? grids_of_j_ : grids_of_i_, tree_of_i(), order);
  CudaFarGrids::Addition addition;
  addition.positions = positions_of(share);
  if (kernels().both_sides) of_i.go_down(distant_.columns(), kernels().sums, addition.positions, stream_);
  addition.totals = {totals.data, totals.stride};
  if (kernels().both_sides && kernels().factors > 0) addition.factors = values_.factors().columns();
  addition.near = near_.columns();
  addition.sums = distant_.columns();
  addition.outputs = source_.outputs;
  of_i.add_up(kernels().parts, addition, stream_);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

std::int64_t CudaFarBackend::bytes_held() const {
  std::int64_t bytes = values_.bytes() + walk_.bytes();
  for (const CudaFarColumns* columns : {&points_of_i_, &points_of_j_, &near_, &distant_, &totals_})
    bytes += columns->bytes();
  for (const CudaFarTree* tree : {&tree_of_i_, &tree_of_j_}) bytes += std::int64_t(tree->bytes());
  const std::int64_t packed = particles_.nj * lists_of(kernels().near).packed_bytes +
                              points_of_j_.count() * lists_of(kernels().distant).packed_bytes;
  return bytes + std::int64_t(sort_.bytes()) + (has_lists_ ? packed : 0);
}

// The distributions of particles in bench/RESULTS.md have so many cells and entries.
FarMemory CudaFarBackend::memory(const SumRequest& request, const FarSetting& setting) {
  const CudaContextGuard guard(gpu_);
  constexpr double kCellsPerLeaf = 3, kCell = 200, kListsOfCell = 2500, kAdditionalRows = 1.1, kSorted = 12;
  const FarKernels& k = kernels();
  const auto ni = double(request.i_count), nj = double(request.nj), all_i = double(request.ni);
  const bool one_tree = tree_of_j_.count() > 0 ? one_tree_ : request.ni == request.nj && request.i_count == request.ni;
  const double cells = kCellsPerLeaf / setting.leaf, grid = cells * std::pow(setting.order, k.axes);
  const double of_points_i = k.both_sides ? ni * (1 + grid) : ni;
  const double of_tree = 20 + 8 * k.axes + 8 + cells * kCell;
  const auto of_sample = source_.outputs + std::ranges::count(source_.fields, Role::Output, &FieldLayout::role);
  double doubles = all_i * (k.axes + k.factors + source_.outputs) +
                   all_i * std::max(source_.outputs * kAdditionalRows, double(of_sample));
  doubles += nj * (k.axes + k.weights) + nj * (1 + grid) * (k.axes + k.weights);
  doubles += of_points_i * k.sums * kAdditionalRows;
  doubles += nj + (k.factors > 0 ? ni : 0);  // the order of kept norms
  if (!one_tree || !k.both_sides) doubles += of_points_i * (k.axes + (k.both_sides ? 0 : k.factors));
  double bytes = 8 * doubles + (one_tree ? 0 : ni * of_tree) + nj * of_tree;
  bytes += std::max(std::max(ni, nj) * kSorted, ni * cells * kListsOfCell / 4) + ni * cells * kListsOfCell;
  bytes += nj * lists_of(k.near).packed_bytes + nj * (1 + grid) * lists_of(k.distant).packed_bytes;
  bytes += double(values_.bytes_to_send(request));
  std::size_t free = 0, total = 0;
  gpu_.require(gpu_.driver().mem_get_info(&free, &total), "asking for the GPU's memory");
  return {fmt::format("cuda:{}", gpu_.ordinal()), std::int64_t(bytes), std::int64_t(free) + bytes_held()};
}

}  // namespace nbcc
