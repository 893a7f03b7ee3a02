// Launches of a sum with a far field. Interface: CudaFarBackend, which CudaSummation::far_backends() makes.
#include "runtime/cuda/far/cuda_far_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmt/format.h"
#include "runtime/cuda/run/cuda_sum.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

const KernelVariant& lists_of(const KernelSource& source) { return *source.find(Frame::Lists); }
far_data::FarColumns columns_of(const FarArray& array) { return {array.data, array.stride}; }
CudaDevicePointer address_of(const far_data::FarColumns& columns, std::int64_t element) {
  return reinterpret_cast<std::uintptr_t>(columns.data + element);
}
int i_of_item(const KernelSource& source) { return 32 * lists_of(source).launches.front().i_per_thread; }

}  // namespace

std::vector<std::shared_ptr<FarBackend>> CudaSummation::far_backends(const Kernel& callers, Precision at_least,
                                                                     std::span<const int> orders) const {
  if (const DerivedKernels& row = callers.derived("far", at_least); row.obstacle.empty())
    compile_far_programs(kernel_, row.as<FarKernels>(), orders);
  return {std::make_shared<CudaFarBackend>(kernel_, callers, at_least)};
}

CudaFarBackend::CudaFarBackend(const CudaKernel& kernel, const Kernel& callers, Precision at_least)
    : CudaFarParticles(kernel, callers, at_least),
      kernel_(kernel),
      own_stream_(gpu_),
      walk_(kernel, sort_),
      up_(gpu_),
      points_of_i_(gpu_),
      points_of_j_(gpu_),
      distant_(gpu_),
      totals_(gpu_),
      near_(gpu_),
      corrected_(gpu_),
      rows_(gpu_) {
  walk_.set_items(i_of_item(kernels().near), i_of_item(kernels().distant));
}

CudaFarBackend::~CudaFarBackend() {
  try {
    wait(stream_);
  } catch (...) {
    // A GPU that has failed uses no memory.
  }
}

void CudaFarBackend::join(std::span<const std::shared_ptr<FarBackend>> all, bool shares_small_sums) {
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto& backend = dynamic_cast<CudaFarBackend&>(*all[k]);
    backend.shares_small_sums_ = shares_small_sums;
    backend.share_ = {std::int64_t(k), std::int64_t(all.size())};
    for (const std::shared_ptr<FarBackend>& other : all)
      if (other != all[k]) backend.others_.push_back(&dynamic_cast<const CudaFarBackend&>(*other));
  }
}

void* CudaFarBackend::own_stream() {
  const CudaContextGuard guard(gpu_);
  return own_stream_.get();
}

void CudaFarBackend::move_to_cell(const PeriodicCell& cell, const std::vector<CellVector>& shifts) {
  CudaFarParticles::move_to_cell(cell, shifts);
  const CudaContextGuard guard(gpu_);
  walk_.set_images(shifts, cell.axes, stream_);
}

// ---- lists ----------------------------------------------------------------------------------------------------------

// A near pair takes some 0.65 ps on an H100 (bench/RESULTS.md). The host makes a table of excluded pairs in 8 ns an
// i, and sends 32 bytes.
FarCosts CudaFarBackend::costs() const {
  return {.product = 0.1, .point = 150, .settled = 400, .launches = 5e8, .excluded = 2e4};
}

void CudaFarBackend::set_trees(int order, const FarLimits& limits) {
  int grid = 1;
  for (int axis = 0; axis < kernels().axes; ++axis) grid *= order;
  walk_.set_trees(tree_of_i(), tree_of_j(), kernels().both_sides, grid, limits, stream_);
}

FarCounts CudaFarBackend::count_pairs(int order, const FarLimits& limits) {
  const CudaContextGuard guard(gpu_);
  set_trees(order, limits);
  FarCounts counts = walk_.count(stream_);
  std::int64_t cells = tree_of_j().cell_count();
  if (kernels().both_sides) cells += tree_of_i().cell_count();
  counts.points = double(cells) * std::pow(order, kernels().axes);
  return counts;
}

FarCounts CudaFarBackend::make_lists(int order, const FarLimits& limits, std::span<const std::int64_t>) {
  const CudaContextGuard guard(gpu_);
  has_lists_ = true;
  set_trees(order, limits);
  walk_.set_positions(positions_of(share_, tree_of_i()));
  return walk_.make_lists(stream_);
}

// ---- sums -----------------------------------------------------------------------------------------------------------

void CudaFarBackend::resize(CudaFarColumns& columns, int components, std::int64_t count, unsigned pattern,
                            const char* what) {
  columns.resize(components, count, what);
  fill(reinterpret_cast<std::uintptr_t>(columns.columns().data), pattern, components * count * 2, "clearing sums");
}

FarArray CudaFarBackend::reserve_sums(Sums which, int components) {
  const CudaContextGuard guard(gpu_);
  CudaFarColumns& columns = which == Sums::Totals ? totals_ : near_;
  if (which == Sums::Totals && leaves_out_i())
    resize(columns, components, particles_.ni, kHalfOfNaN, "sums");
  else
    columns.resize(components, particles_.ni, which == Sums::Totals ? "sums" : "sums of a sample");
  return columns.array();
}

CudaFarGrids& CudaFarBackend::grids(GridsByOrder& of_orders, const CudaFarTree& tree, int order) {
  std::unique_ptr<CudaFarGrids>& made = of_orders[order];
  if (!made) made = std::make_unique<CudaFarGrids>(kernel_, kernels().axes, order);
  made->set_tree({tree.cells(), tree.cell_count(), tree.count(), reinterpret_cast<const long long*>(tree.order()),
                  tree.coordinates()},
                 stream_);
  return *made;
}

void CudaFarBackend::go_up(int order) {
  const CudaContextGuard guard(gpu_);
  const int axes = kernels().axes;
  CudaFarGrids& of_j = grids(grids_of_j_, tree_of_j(), order);
  points_of_j_.resize(axes + kernels().weights, of_j.points(), "points");
  of_j.locate(points_of_j_.columns(), stream_);
  of_j.collect(columns_of(particles_.weights), kernels().weights, points_of_j_.columns(axes), stream_);
  const bool shares = shares_up(of_j);
  of_j.go_up(points_of_j_.columns(axes), kernels().weights,
             shares ? positions_of(share_, tree_of_j()) : of_j.all_positions(), stream_);
  unfinished_up_ = shares ? &of_j : nullptr;
  if (shares) up_.record(stream_);
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
  of_i.collect(columns_of(particles_.factors), kernels().factors, points_of_i_.columns(axes), stream_);
}

// True if going up in shares, and copying the grids of other GPUs, takes less time than going up from all particles. On
// an H100 1e7 particles with 1.5e7 points of grids take 1.5 ms (bench/RESULTS.md, order 4).
bool CudaFarBackend::shares_up(const CudaFarGrids& of_j) const {
  if (others_.empty() || shares_small_sums_) return !others_.empty();
  constexpr double kSecondsPerPoint = 6e-11;
  const auto points = double(of_j.points()), of_grids = points - double(tree_of_j().count());
  const double of_others = double(others_.size()) / double(share_.count) * kernels().weights;
  return of_others * points * kSecondsPerPoint >
         kPeerSeconds + of_others * of_grids * sizeof(double) / kPeerBytesPerSecond;
}

void CudaFarBackend::finish_up() {
  if (!unfinished_up_) return;
  const CudaContextGuard guard(gpu_);
  const CudaFarGrids& of_j = *std::exchange(unfinished_up_, nullptr);
  const int weights = kernels().weights;
  const far_data::FarColumns values = points_of_j_.columns(kernels().axes);
  for (const CudaFarBackend* const other : others_) {
    other->up_.make_wait(stream_);
    of_j.copy_grids(other->points_of_j_.columns(kernels().axes), weights, positions_of(other->share_, tree_of_j()),
                    values, stream_);
  }
  of_j.go_up_across(values, weights, int(share_.count), stream_);
}

// Near sums are in the order of the tree until go_down().
void CudaFarBackend::sum_near(const SumRequest& request, const FarArray&, bool lists_are_new) {
  const CudaContextGuard guard(gpu_);
  CudaFarWalk::Part near = walk_.part(CudaFarWalk::Near);
  resize(near_, source_.outputs, near.rows, 0, "sums of near pairs");
  near.lists.i_order = tree_of_i().order();
  near.lists.j_order = tree_of_j().order();
  FarArray rows = near_.array();
  rows.count = particles_.ni;
  sums_.sum_near(request, rows, lists_are_new ? &near.lists : nullptr);
  walk_.combine(CudaFarWalk::Near, near_.columns(), source_.outputs, stream_);
}

void CudaFarBackend::sum_distant(const SumRequest& request, bool lists_are_new) {
  const CudaContextGuard guard(gpu_);
  const CudaFarWalk::Part& distant = walk_.part(CudaFarWalk::Distant);
  resize(distant_, kernels().sums, distant.rows, 0, "sums at grids");
  const FarArray of_i = (has_one_grid() ? points_of_j_ : points_of_i_).array();
  FarArray rows = distant_.array();
  rows.count = of_i.count;
  sums_.sum_distant(request, of_i, points_of_j_.array(), rows, lists_are_new ? &distant.lists : nullptr);
  walk_.combine(CudaFarWalk::Distant, distant_.columns(), kernels().sums, stream_);
}

void CudaFarBackend::go_down(int order, const FarArray& totals) {
  const CudaContextGuard guard(gpu_);
  CudaFarGrids& of_i = grids(has_one_grid() ? grids_of_j_ : grids_of_i_, tree_of_i(), order);
  last_down_ = &of_i;
  CudaFarGrids::Addition addition;
  addition.positions = positions_of(share_, tree_of_i());
  if (kernels().both_sides) of_i.go_down(distant_.columns(), kernels().sums, addition.positions, stream_);
  addition.totals = columns_of_totals(totals);
  addition.in_order = keeps_totals();
  if (kernels().both_sides && kernels().factors > 0) addition.factors = columns_of(particles_.factors);
  addition.near = near_.columns();
  addition.sums = distant_.columns();
  addition.outputs = source_.outputs;
  if (!keeps_totals()) addition.rows = rows_of_totals();
  of_i.add_up(kernels().parts, addition, stream_);
}

bool CudaFarBackend::has_rows_of_totals() const {
  return share_.index == 0 && CudaFarGrids::adds_rows(source_.outputs, kernels().parts.size());
}

// Room for the totals of all i. Null if some i have no totals, or if memory does not suffice.
double* CudaFarBackend::rows_of_totals() {
  if (!has_rows_of_totals() || leaves_out_i() || particles_.chosen != particles_.ni) return nullptr;
  const std::int64_t doubles = CudaFarGrids::rows_of(source_.outputs, particles_.ni);
  if (!rows_.reserve(std::size_t(doubles) * sizeof(double))) return nullptr;
  return reinterpret_cast<double*>(rows_.data());
}

// Stores of single numbers in the memory of another GPU take as long as 50 bytes of a copy.
void CudaFarBackend::take_totals(const FarArray& totals) {
  const CudaContextGuard guard(gpu_);
  for (const CudaFarBackend* const other : others_) {
    const far_data::FarPositions positions = positions_of(other->share_, tree_of_i());
    const auto count = std::size_t(positions.end - positions.first);
    if (count == 0) continue;
    for (int output = 0; output < source_.outputs; ++output)
      gpu_.require(gpu_.driver().memcpy_async(address_of(near_.columns(output), positions.first),
                                              address_of(other->near_.columns(output), positions.first),
                                              count * sizeof(double), stream_),
                   "copying totals from one GPU to another");
  }
  CudaFarGrids::Addition addition;
  addition.totals = columns_of(totals);
  addition.near = near_.columns();
  addition.outputs = source_.outputs;
  addition.positions = {0, tree_of_i().count()};
  addition.rows = rows_of_totals();
  last_down_->add_up({}, addition, stream_);
}

// ---- excluded pairs -------------------------------------------------------------------------------------------------

void CudaFarBackend::find_corrections(const PairRows* excluded) {
  const CudaContextGuard guard(gpu_);
  walk_.find_corrections(excluded, particles_.position_of_i, particles_.position_of_j, stream_);
  corrections_are_new_ = true;
}

void CudaFarBackend::add_corrections(const SumRequest& request, const FarArray& totals) {
  const CudaContextGuard guard(gpu_);
  const CudaFarWalk::Corrections& corrections = walk_.corrections();
  if (corrections.count == 0) return;
  corrected_.resize(source_.outputs, corrections.count, "terms of excluded pairs");
  FarArray rows = corrected_.array();
  rows.count = particles_.ni;
  sums_.sum_corrections(request, rows, corrections_are_new_ ? &corrections.lists : nullptr);
  corrections_are_new_ = false;
  walk_.add_corrections(corrected_.columns(), columns_of_totals(totals), source_.outputs, keeps_totals(), stream_);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

std::int64_t CudaFarBackend::bytes_held() const {
  std::int64_t bytes = CudaFarParticles::bytes() + walk_.bytes();
  for (const CudaFarColumns* columns : {&points_of_i_, &points_of_j_, &near_, &distant_, &totals_, &corrected_})
    bytes += columns->bytes();
  bytes += std::int64_t(rows_.bytes());
  const std::int64_t packed = particles_.nj * lists_of(kernels().near).packed_bytes +
                              points_of_j_.count() * lists_of(kernels().distant).packed_bytes;
  const std::int64_t of_corrections = particles_.nj * lists_of(kernels().near).packed_bytes;
  return bytes + (has_lists_ ? packed : 0) + (corrected_.bytes() > 0 ? of_corrections : 0);
}

// The distributions of particles in bench/RESULTS.md have so many cells and entries.
FarMemory CudaFarBackend::memory(const SumRequest& request, const FarSetting& setting) {
  const CudaContextGuard guard(gpu_);
  constexpr double kCellsPerLeaf = 3, kCell = 200, kListsOfCell = 2500, kAdditionalRows = 1.1, kSorted = 12;
  const FarKernels& k = kernels();
  const auto ni = double(request.i_count), nj = double(request.nj), all_i = double(request.ni);
  const bool one_tree = tree_of_j().count() > 0 ? one_tree_ : request.ni == request.nj && request.i_count == request.ni;
  const double cells = kCellsPerLeaf / setting.leaf, grid = cells * std::pow(setting.order, k.axes);
  const double of_points_i = k.both_sides ? ni * (1 + grid) : ni;
  const double of_tree = 20 + 8 * k.axes + 8 + cells * kCell;
  const auto of_sample = source_.outputs + std::ranges::count(source_.fields, Role::Output, &FieldLayout::role);
  double doubles = all_i * (k.axes + k.factors + source_.outputs) +
                   all_i * std::max(source_.outputs * kAdditionalRows, double(of_sample));
  if (has_rows_of_totals()) doubles += double(CudaFarGrids::rows_of(source_.outputs, request.ni));
  doubles += nj * (k.axes + k.weights) + nj * (1 + grid) * (k.axes + k.weights);
  doubles += of_points_i * k.sums * kAdditionalRows;
  doubles += nj + (k.factors > 0 ? ni : 0);  // the order of kept norms
  if (!one_tree || !k.both_sides) doubles += of_points_i * (k.axes + (k.both_sides ? 0 : k.factors));
  double bytes = 8 * doubles + (one_tree ? 0 : ni * of_tree) + nj * of_tree;
  bytes += std::max(std::max(ni, nj) * kSorted, ni * cells * kListsOfCell / 4) + ni * cells * kListsOfCell;
  bytes += nj * lists_of(k.near).packed_bytes + nj * (1 + grid) * lists_of(k.distant).packed_bytes;
  bytes += double(bytes_to_send(request));
  if (request.excluded_rows) {
    // The rows, then of each correction its key and slot, found and sorted, its item, its terms, and the shift of j.
    const double of_pair = sizeof(int) + 3 * (sizeof(std::uint64_t) + sizeof(unsigned)) + sizeof(far_data::FarItem) +
                           sizeof(far_data::FarRange) + 8.0 * (source_.outputs + k.axes);
    bytes += 8 * ni + double(request.excluded_rows->j.size()) * of_pair;
    bytes += nj * double(sizeof(unsigned) + std::size_t(lists_of(k.near).packed_bytes));  // ranks, the list sum's j
  }
  std::size_t free = 0, total = 0;
  gpu_.require(gpu_.driver().mem_get_info(&free, &total), "asking for the GPU's memory");
  return {fmt::format("cuda:{}", gpu_.ordinal()), std::int64_t(bytes), std::int64_t(free) + bytes_held()};
}

}  // namespace nbcc
