// The caller's arrays -> positions, weights and factors in GPU memory, checks of them, and trees. Interface:
// CudaFarParticles.
#include "runtime/cuda/far/cuda_far_particles.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "runtime/cuda/program/cuda_residency.h"
#include "runtime/round_up.h"

namespace nbcc {
namespace {

using namespace far_data;

template <typename T>
T* at(CudaDevicePointer address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace

CudaFarParticles::CudaFarParticles(const CudaKernel& kernel, const Kernel& callers, Precision at_least)
    : FarBackend(callers, at_least, false),
      gpu_(kernel.gpu()),
      sort_(kernel),
      program_(kernel, far_particles_source()),
      tree_of_i_(kernel, kernels().axes, sort_),
      tree_of_j_(kernel, kernels().axes, sort_),
      copies_(gpu_),
      positions_of_i_(gpu_),
      positions_of_j_(gpu_),
      centres_(gpu_),
      list_(gpu_),
      flags_(gpu_),
      picked_(gpu_),
      rows_(gpu_),
      weights_(gpu_),
      factors_(gpu_),
      norms_of_weights_(gpu_),
      norms_of_factors_(gpu_),
      pinned_(gpu_) {
  if (kernels().periods) images_ = std::make_unique<CudaFarImages>(kernel);
}

void CudaFarParticles::set_stream(void* stream) { stream_ = static_cast<CudaStream*>(stream); }

void CudaFarParticles::wait(void* stream) {
  const CudaContextGuard guard(gpu_);
  gpu_.synchronize(static_cast<CudaStream*>(stream));
}

bool CudaFarParticles::holds(const ArrayView& view) const {
  const CudaContextGuard guard(gpu_);
  const CudaPointer pointer = find_pointer(gpu_, view.data);
  return pointer.on_gpu && !pointer.managed && pointer.ordinal == gpu_.ordinal();
}

void CudaFarParticles::mark(std::size_t k) {
  const CudaContextGuard guard(gpu_);
  while (marks_.size() <= k) marks_.emplace_back(gpu_, kCudaTiming);
  marks_[k].record(stream_);
}

double CudaFarParticles::seconds_between(std::size_t first, std::size_t second) {
  const CudaContextGuard guard(gpu_);
  return marks_[second].seconds_since(marks_[first]);
}

void CudaFarParticles::fill(CudaDevicePointer at, unsigned pattern, std::int64_t words, const char* what) {
  gpu_.require(gpu_.driver().memset_d32_async(at, pattern, std::size_t(words), stream_), what);
}

template <typename Argument>
void CudaFarParticles::launch(const char* name, std::int64_t items, const Argument& argument) {
  const std::int64_t most = 6 * std::int64_t(gpu_.multiprocessors());
  program_.launch(name, std::min(most, ceil_div(items, kParticleThreads)), kParticleThreads, {&argument}, stream_);
}

void CudaFarParticles::clear_flags() {
  reserve_elements(flags_, kFlags, sizeof(unsigned), "flags");
  fill(flags_.data(), 0, kFlags, "clearing flags");
}

std::array<unsigned, CudaFarParticles::kFlags> CudaFarParticles::fetch_flags() {
  std::array<unsigned, kFlags> flags;
  pinned_.reserve(sizeof flags);
  gpu_.fetch(pinned_.data(), flags_.data(), sizeof flags, stream_);
  gpu_.synchronize(stream_);
  std::memcpy(flags.data(), pinned_.data(), sizeof flags);
  return flags;
}

// ---- inputs ---------------------------------------------------------------------------------------------------------

bool CudaFarParticles::is_sent(const SumRequest& request, std::size_t field) const {
  const FieldLayout& layout = source_.fields[field];
  const ArrayView& view = request.views[field];
  if ((layout.role != Role::InputI && layout.role != Role::InputJ) || view.count == 0) return false;
  return residency_of(gpu_, view.data, layout.name.c_str()) == Residency::Host;
}

// One view per field; without data if the field is no input in the memory of another GPU.
std::vector<ArrayView> CudaFarParticles::inputs_of_other_gpus(const SumRequest& request) const {
  std::vector<ArrayView> views(request.views.size());
  for (std::size_t f = 0; f < views.size(); ++f) {
    const Role role = source_.fields[f].role;
    const ArrayView& view = request.views[f];
    if ((role == Role::InputI || role == Role::InputJ) && view.count > 0 && is_on_another_gpu(gpu_, view.data))
      views[f] = view;
  }
  return views;
}

std::int64_t CudaFarParticles::bytes_to_send(const SumRequest& request) const {
  std::int64_t bytes = 0;
  for (std::size_t f = 0; f < source_.fields.size(); ++f)
    if (is_sent(request, f))
      bytes += request.views[f].count * source_.fields[f].components() * std::int64_t(sizeof(double));
  return bytes + std::int64_t(copied_bytes(source_, inputs_of_other_gpus(request)));
}

// Inputs of the host become doubles or 64-bit integers, packed into columns. Inputs of another GPU are copied as they
// are: near sums read particles in the order of the tree, and each number that is read over the link alone takes as
// long as 50 bytes of a copy. Outputs stay as the caller gave them.
void CudaFarParticles::send_inputs(const SumRequest& request) {
  views_.assign(request.views.begin(), request.views.end());
  const std::vector<ArrayView> of_others = inputs_of_other_gpus(request);
  const std::vector<ArrayView> copies = copies_.copy(source_, of_others, stream_, false);
  for (std::size_t f = 0; f < copies.size(); ++f)
    if (copies[f].data) views_[f] = copies[f];
  bool waited = false;
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const FieldLayout& field = source_.fields[f];
    ArrayView& view = views_[f];
    if (!is_sent(request, f)) continue;
    if (!waited) gpu_.synchronize(stream_);
    waited = true;
    const int components = field.components();
    const std::size_t column = std::size_t(view.count) * sizeof(double);
    pinned_.reserve(column);
    CudaBuffer& to = sent_.try_emplace(f, gpu_).first->second;
    reserve_elements(to, view.count * components, sizeof(double), "inputs");
    const Element element = field.integral() ? Element::Int64 : Element::Double;
    for (int c = 0; c < components; ++c) {
      pack(view, c, {0, nullptr, view.count}, {c, element, Column::Part::Whole}, pinned_.data());
      gpu_.send(to.data() + std::uint64_t(c) * column, pinned_.data(), column, stream_);
      gpu_.synchronize(stream_);
    }
    view = {reinterpret_cast<void*>(to.data()), element, view.count, 8, std::int64_t(column)};
  }
}

// Without progress, which would divide sums into slices.
SumRequest CudaFarParticles::with_inputs(const SumRequest& request) const {
  SumRequest here = request;
  here.views = views_;
  here.progress = nullptr;
  return here;
}

void CudaFarParticles::reserve_particles(const SumRequest& request) {
  const CudaContextGuard guard(gpu_);
  send_inputs(request);
  const int axes = kernels().axes;
  reserve_elements(positions_of_i_, request.ni * axes, sizeof(double), "positions");
  reserve_elements(positions_of_j_, request.nj * axes, sizeof(double), "positions");
  weights_.resize(kernels().weights, request.nj, "weights");
  factors_.resize(kernels().factors, request.ni, "factors");
  particles_ = {.ni = request.ni,
                .nj = request.nj,
                .position_of_i = at<double>(positions_of_i_.data()),
                .position_of_j = at<double>(positions_of_j_.data()),
                .weights = weights_.array(),
                .factors = factors_.array(),
                .j_of_i = request.i_offset - request.j_offset};
  send_chosen(request);
  // i that are not chosen have no positions.
  if (chosen_ != 0) fill(positions_of_i_.data(), kHalfOfNaN, request.ni * axes * 2, "clearing positions");
}

const double* CudaFarParticles::send_centres(std::span<const double> centres) {
  if (centres.empty()) return nullptr;
  const CudaContextGuard guard(gpu_);
  reserve_elements(centres_, std::int64_t(centres.size()), sizeof(double), "means");
  gpu_.send(centres_.data(), centres.data(), centres.size_bytes(), stream_);
  gpu_.synchronize(stream_);
  return at<double>(centres_.data());
}

void CudaFarParticles::send_chosen(const SumRequest& request) {
  chosen_ = 0;
  particles_.chosen = request.i_count;
  if (!request.i_list && request.i_count == request.ni) return;
  if (request.i_list && residency_of(gpu_, request.i_list, "i_list") == Residency::Device) {
    chosen_ = reinterpret_cast<std::uintptr_t>(request.i_list);
    if (!is_on_another_gpu(gpu_, request.i_list)) return;
    reserve_elements(list_, particles_.chosen, sizeof(std::int64_t), "chosen i");
    gpu_.require(gpu_.driver().memcpy_async(list_.data(), std::exchange(chosen_, list_.data()),
                                            std::size_t(particles_.chosen) * sizeof(std::int64_t), stream_),
                 "copying chosen i from one GPU to another");
    return;
  }
  std::vector<std::int64_t> range(request.i_list ? 0 : std::size_t(request.i_count));
  std::iota(range.begin(), range.end(), request.i_begin);
  choose(request.i_list ? std::span(request.i_list, std::size_t(request.i_count)) : std::span(range));
}

void CudaFarParticles::choose(std::span<const std::int64_t> particles) {
  particles_.chosen = std::int64_t(particles.size());
  reserve_elements(list_, particles_.chosen, sizeof(std::int64_t), "chosen i");
  gpu_.send(list_.data(), particles.data(), particles.size_bytes(), stream_);
  gpu_.synchronize(stream_);
  chosen_ = list_.data();
}

std::vector<std::int64_t> CudaFarParticles::chosen_i() const {
  const CudaContextGuard guard(gpu_);
  std::vector<std::int64_t> particles(chosen_ == 0 ? 0 : std::size_t(particles_.chosen));
  if (chosen_ == 0) return particles;
  gpu_.fetch(particles.data(), chosen_, particles.size() * sizeof(std::int64_t), stream_);
  gpu_.synchronize(stream_);
  return particles;
}

// ---- the images of a periodic sum -----------------------------------------------------------------------------------

std::vector<OpenExtent> CudaFarParticles::extents(std::span<const CellVector> directions) {
  const CudaContextGuard guard(gpu_);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<OpenExtent> found(directions.size(), {kNone, -kNone});
  images_->widen(found, directions, particles_.position_of_i, particles_.ni, kernels().axes, stream_);
  images_->widen(found, directions, particles_.position_of_j, particles_.nj, kernels().axes, stream_);
  for (OpenExtent& extent : found)
    if (extent.low > extent.high) extent = {};
  return found;
}

void CudaFarParticles::move_to_cell(const PeriodicCell& cell, const std::vector<CellVector>& shifts) {
  const CudaContextGuard guard(gpu_);
  images_->move_to_cell(cell, particles_.position_of_i, particles_.ni, stream_);
  images_->move_to_cell(cell, particles_.position_of_j, particles_.nj, stream_);
  sums_.set_images({[this](const CellVector& shift) {
                      const CudaContextGuard of_gpu(gpu_);
                      if (shift == CellVector{}) return places(particles_.position_of_i, particles_.ni);
                      return places(images_->shifted(particles_.position_of_i, particles_.ni, shift, stream_),
                                    particles_.ni);
                    },
                    places(particles_.position_of_j, particles_.nj), shifts});
}

void CudaFarParticles::collect_far_images(std::shared_ptr<const FarOperator> through) {
  const CudaContextGuard guard(gpu_);
  images_->collect(std::move(through), particles_.position_of_j, particles_.nj, particles_.weights,
                   kernels().weight_names, stream_);
}

// All chosen i: a sample of them takes as long.
void CudaFarParticles::add_far_images(const FarArray& totals, std::span<const std::int64_t>) {
  const CudaContextGuard guard(gpu_);
  images_->add({particles_.position_of_i, at<const long long>(chosen_), particles_.chosen, particles_.factors, totals},
               kernels().parts, stream_);
}

// ---- checks and samples ---------------------------------------------------------------------------------------------

std::string CudaFarParticles::check_particles() {
  const CudaContextGuard guard(gpu_);
  const int axes = kernels().axes;
  const FarParticles& p = particles_;
  clear_flags();
  auto* const flags = at<unsigned>(flags_.data());
  if (kernels().weights > 0)
    launch("nbcc_far_check", p.nj * kernels().weights,
           FarCheckArgument{p.weights.data, nullptr, nullptr, 1, p.nj * kernels().weights, 0, 0, flags + 4});
  // Beside the j of the same numbers, and those of the same indices.
  const auto check_i = [&](std::int64_t j_of_i, unsigned* to) {
    launch("nbcc_far_check", p.chosen * axes,
           FarCheckArgument{p.position_of_i, p.position_of_j, at<const long long>(chosen_), axes, p.chosen * axes,
                            j_of_i * axes, p.nj * axes, to});
  };
  check_i(0, flags);
  if (kernels().needs_one_set) check_i(p.j_of_i, flags + 2);
  const auto [differ, not_finite, indices_differ, unused, unused_too, weight_is_not_finite] = fetch_flags();
  if (weight_is_not_finite != 0) return "a weight is not finite";
  leaves_out_i_ = not_finite != 0;
  const bool has_finite = !leaves_out_i_ || choose_finite_i();
  particles_.are_one_set = p.ni == p.nj && differ == 0;
  particles_.indices_agree = kernels().needs_one_set && indices_differ == 0;
  particles_.are_all = chosen_ == 0;
  return has_finite ? "" : "no i has a finite position";
}

// Such i are rare, so that the host may find them.
bool CudaFarParticles::choose_finite_i() {
  std::vector<std::int64_t> particles = chosen_i();
  if (chosen_ == 0) {
    particles.resize(std::size_t(particles_.ni));
    std::iota(particles.begin(), particles.end(), 0);
  }
  const int axes = kernels().axes;
  std::vector<double> positions(std::size_t(particles_.ni * axes));
  gpu_.fetch(positions.data(), positions_of_i_.data(), positions.size() * sizeof(double), stream_);
  gpu_.synchronize(stream_);
  std::erase_if(particles, [&](std::int64_t i) {
    const double* const position = positions.data() + i * axes;
    return !std::all_of(position, position + axes, [](double x) { return std::isfinite(x); });
  });
  choose(particles);
  return !particles.empty();
}

std::vector<double> CudaFarParticles::rows(const FarArray& columns, int components,
                                           std::span<const std::int64_t> particles) {
  const CudaContextGuard guard(gpu_);
  const auto rows = std::int64_t(particles.size());
  std::vector<double> values(std::size_t(rows * components));
  if (values.empty()) return values;
  reserve_elements(picked_, rows, sizeof(std::int64_t), "numbers of a sample");
  reserve_elements(rows_, rows * components, sizeof(double), "a sample");
  gpu_.send(picked_.data(), particles.data(), particles.size_bytes(), stream_);
  launch("nbcc_far_pick", rows,
         FarPickArgument{{columns.data, columns.stride},
                         components,
                         at<const long long>(picked_.data()),
                         rows,
                         at<double>(rows_.data())});
  gpu_.fetch(values.data(), rows_.data(), values.size() * sizeof(double), stream_);
  gpu_.synchronize(stream_);
  return values;
}

std::shared_ptr<double> CudaFarParticles::zeros(std::int64_t count) {
  const CudaContextGuard guard(gpu_);
  const auto memory = std::make_shared<CudaBuffer>(gpu_);
  reserve_elements(*memory, count + 1, sizeof(double), "sums of parts");
  fill(memory->data(), 0, 2 * count, "clearing sums");
  gpu_.synchronize(stream_);
  return {memory, at<double>(memory->data())};
}

void CudaFarParticles::add(double* to, const double* from, std::int64_t count) {
  const CudaContextGuard guard(gpu_);
  launch("nbcc_far_add", count, FarAddArgument{to, from, count});
}

void CudaFarParticles::keep_orders() {
  const CudaContextGuard guard(gpu_);
  const auto keep = [&](const CudaFarTree& tree, int components, Norms& kept) {
    kept.count = components > 0 ? tree.count() : 0;
    if (kept.count == 0) return;
    reserve_elements(kept.order, kept.count, sizeof(std::int64_t), "an order of particles");
    gpu_.require(gpu_.driver().memcpy_async(kept.order.data(), tree.order(),
                                            std::size_t(kept.count) * sizeof(std::int64_t), stream_),
                 "copying the order of particles");
  };
  keep(tree_of_j_, kernels().weights, norms_of_weights_);
  keep(tree_of_i(), kernels().factors, norms_of_factors_);
}

std::array<std::vector<FarNorms>, 2> CudaFarParticles::norms() {
  const CudaContextGuard guard(gpu_);
  std::array<std::vector<FarNorms>, 2> found{launch_norms(weights_, kernels().weights, norms_of_weights_),
                                             launch_norms(factors_, kernels().factors, norms_of_factors_)};
  gpu_.synchronize(stream_);
  return found;
}

// The result is there when the stream is.
std::vector<FarNorms> CudaFarParticles::launch_norms(const CudaFarColumns& values, int components, Norms& of) {
  const std::int64_t blocks = FarBlocks{of.count}.count();
  std::vector<FarNorms> found(of.count == 0 ? 0 : std::size_t(components * blocks));
  if (found.empty()) return found;
  reserve_elements(of.norms, std::int64_t(found.size()), sizeof(FarNorms), "norms");
  launch("nbcc_far_norms", 32 * blocks * components,
         FarNormsArgument{values.columns(), at<const long long>(of.order.data()), of.count, blocks, components,
                          at<double>(of.norms.data())});
  gpu_.fetch(found.data(), of.norms.data(), found.size() * sizeof(FarNorms), stream_);
  return found;
}

// ---- trees ----------------------------------------------------------------------------------------------------------

bool CudaFarParticles::are_in_trees() {
  // An i whose position is not finite may get one, or another i may lose its own.
  if (leaves_out_i_ || tree_of_j_.count() != particles_.nj || tree_of_i().count() != particles_.chosen) return false;
  const CudaContextGuard guard(gpu_);
  clear_flags();
  const auto compare = [&](const CudaFarTree& tree, const double* positions, CudaDevicePointer chosen) {
    launch("nbcc_far_compare", tree.count(),
           FarCompareArgument{positions, at<const long long>(chosen), at<const unsigned>(tree.numbers()),
                              at<const long long>(tree.order()), tree.coordinates(), tree.count(), kernels().axes,
                              at<unsigned>(flags_.data())});
  };
  compare(tree_of_j_, particles_.position_of_j, 0);
  if (!one_tree_) compare(tree_of_i_, particles_.position_of_i, chosen_);
  return fetch_flags()[0] == 0;
}

bool CudaFarParticles::build_trees(bool one_tree, int leaf) {
  const CudaContextGuard guard(gpu_);
  one_tree_ = one_tree;
  tree_of_j_.build(positions_of_j_.data(), 0, particles_.nj, leaf, stream_);
  if (!one_tree_) tree_of_i_.build(positions_of_i_.data(), chosen_, particles_.chosen, leaf, stream_);
  return tree_of_j_.is_finite();
}

void CudaFarParticles::split_trees(int leaf) {
  tree_of_j_.split_again(leaf, stream_);
  if (!one_tree_) tree_of_i_.split_again(leaf, stream_);
}

std::vector<int> CudaFarParticles::cell_sizes(bool of_i) const {
  const std::span<const int> exponents = (of_i ? tree_of_i() : tree_of_j_).exponents();
  return {exponents.begin(), exponents.end()};
}

std::int64_t CudaFarParticles::bytes() const {
  std::size_t bytes = sort_.bytes() + tree_of_i_.bytes() + tree_of_j_.bytes();
  for (const CudaBuffer* buffer :
       {&positions_of_i_, &positions_of_j_, &list_, &norms_of_factors_.order, &norms_of_weights_.order})
    bytes += buffer->bytes();
  for (const auto& [field, buffer] : sent_) bytes += buffer.bytes();
  bytes += copies_.bytes();
  return std::int64_t(bytes) + weights_.bytes() + factors_.bytes() + (images_ ? images_->bytes() : 0);
}

}  // namespace nbcc
