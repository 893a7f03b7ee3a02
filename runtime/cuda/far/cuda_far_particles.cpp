// The caller's arrays -> positions, weights and factors in GPU memory, and checks of them. Interface: CudaFarParticles.
// Builds no tree.
#include "runtime/cuda/far/cuda_far_particles.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "runtime/cuda/program/cuda_residency.h"
#include "runtime/round_up.h"

namespace nbcc {
namespace {

using namespace far_data;

constexpr std::int64_t kKept = 1 << 16;  // positions of i and of j, at most
constexpr int kFlags = 2;

template <typename T>
T* at(CudaDevicePointer address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace

CudaFarParticles::CudaFarParticles(const CudaKernel& kernel, const FarKernels& kernels, FarParticles& particles)
    : gpu_(kernel.gpu()),
      kernels_(kernels),
      particles_(particles),
      program_(kernel, "cuda_far_particles.cu", ""),
      inputs_(gpu_, kernel.source),
      positions_of_i_(gpu_),
      positions_of_j_(gpu_),
      centres_on_device_(gpu_),
      list_(gpu_),
      flags_(gpu_),
      picked_(gpu_),
      rows_(gpu_),
      weights_(gpu_),
      factors_(gpu_),
      pinned_(gpu_),
      thinned_i_(gpu_),
      thinned_j_(gpu_),
      norms_of_factors_(gpu_),
      norms_of_weights_(gpu_),
      change_(gpu_) {}

template <typename Argument>
void CudaFarParticles::launch(const char* name, std::int64_t items, const Argument& argument) {
  const std::int64_t most = 6 * std::int64_t(gpu_.multiprocessors());
  program_.launch(name, std::min(most, ceil_div(items, kParticleThreads)), kParticleThreads, argument, stream_);
}

void CudaFarParticles::clear_flags() {
  reserve_elements(flags_, kFlags, sizeof(unsigned), "flags");
  gpu_.require(gpu_.driver().memset_d32_async(flags_.data(), 0, kFlags, stream_), "clearing flags");
}

std::pair<unsigned, unsigned> CudaFarParticles::fetch_flags() {
  unsigned flags[kFlags];
  pinned_.reserve(sizeof flags);
  gpu_.fetch(pinned_.data(), flags_.data(), sizeof flags, stream_);
  gpu_.synchronize(stream_);
  std::memcpy(flags, pinned_.data(), sizeof flags);
  return {flags[0], flags[1]};
}

SumRequest CudaFarParticles::with_inputs(const SumRequest& request) const {
  SumRequest here = request;
  here.views = inputs_.views();
  return here;
}

void CudaFarParticles::reserve(const SumRequest& request, CudaStream* stream) {
  stream_ = stream;
  inputs_.take(request, stream_);
  const int axes = kernels_.axes;
  reserve_elements(positions_of_i_, request.ni * axes, sizeof(double), "positions");
  reserve_elements(positions_of_j_, request.nj * axes, sizeof(double), "positions");
  weights_.resize(kernels_.weights, request.nj, "weights");
  factors_.resize(kernels_.factors, request.ni, "factors");
  particles_ = {.ni = request.ni,
                .nj = request.nj,
                .position_of_i = at<double>(positions_of_i_.data()),
                .position_of_j = at<double>(positions_of_j_.data()),
                .weights = weights_.array(),
                .factors = factors_.array()};
  send_chosen(request);
  // i that are not chosen have no positions.
  if (chosen_ != 0)
    gpu_.require(
        gpu_.driver().memset_d32_async(positions_of_i_.data(), kHalfOfNaN, std::size_t(request.ni * axes * 2), stream_),
        "clearing positions");
}

const double* CudaFarParticles::send(std::span<const double> centres) {
  if (centres.empty()) return nullptr;
  reserve_elements(centres_on_device_, std::int64_t(centres.size()), sizeof(double), "means");
  gpu_.send(centres_on_device_.data(), centres.data(), centres.size_bytes(), stream_);
  gpu_.synchronize(stream_);
  return at<double>(centres_on_device_.data());
}

std::string CudaFarParticles::check() {
  const int axes = kernels_.axes;
  const FarParticles& p = particles_;
  clear_flags();
  if (kernels_.weights > 0)
    launch("nbcc_far_check", p.nj * kernels_.weights,
           FarCheckArgument{p.weights.data, nullptr, nullptr, 1, p.nj * kernels_.weights, at<unsigned>(flags_.data())});
  if (fetch_flags().second != 0) return "a weight is not finite";
  clear_flags();
  launch("nbcc_far_check", p.chosen * axes,
         FarCheckArgument{p.position_of_i, p.ni == p.nj ? p.position_of_j : nullptr, at<const long long>(chosen_), axes,
                          p.chosen * axes, at<unsigned>(flags_.data())});
  const auto [differ, not_finite] = fetch_flags();
  leaves_out_i_ = not_finite != 0;
  const bool has_finite = !leaves_out_i_ || choose_finite_i();
  particles_.are_one_set = p.ni == p.nj && differ == 0;
  particles_.are_all = chosen_ == 0;
  return has_finite ? "" : "no i has a finite position";
}

void CudaFarParticles::send_chosen(const SumRequest& request) {
  chosen_ = 0;
  particles_.chosen = request.i_count;
  if (!request.i_list && request.i_count == request.ni) return;
  if (request.i_list && residency_of(gpu_, request.i_list, "i_list") == Residency::Device) {
    chosen_ = reinterpret_cast<std::uintptr_t>(request.i_list);
    return;
  }
  std::vector<std::int64_t> range;
  for (std::int64_t k = 0; k < request.i_count && !request.i_list; ++k) range.push_back(request.i_begin + k);
  choose(request.i_list ? std::span(request.i_list, std::size_t(request.i_count)) : std::span(range));
}

void CudaFarParticles::choose(std::span<const std::int64_t> particles) {
  particles_.chosen = std::int64_t(particles.size());
  reserve_elements(list_, particles_.chosen, sizeof(std::int64_t), "chosen i");
  gpu_.send(list_.data(), particles.data(), particles.size_bytes(), stream_);
  gpu_.synchronize(stream_);
  chosen_ = list_.data();
}

std::vector<std::int64_t> CudaFarParticles::fetch_chosen() const {
  std::vector<std::int64_t> particles(std::size_t(particles_.chosen), 0);
  if (chosen_ == 0) {
    std::iota(particles.begin(), particles.end(), 0);
    return particles;
  }
  gpu_.fetch(particles.data(), chosen_, particles.size() * sizeof(std::int64_t), stream_);
  gpu_.synchronize(stream_);
  return particles;
}

// Such i are rare, so that the host may find them.
bool CudaFarParticles::choose_finite_i() {
  std::vector<std::int64_t> particles = fetch_chosen();
  const int axes = kernels_.axes;
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

bool CudaFarParticles::are_in(const CudaFarTree& of_i, const CudaFarTree& of_j) {
  if (of_j.count() != particles_.nj || of_i.count() != particles_.chosen) return false;
  clear_flags();
  const auto compare = [&](const CudaFarTree& tree, CudaDevicePointer positions, CudaDevicePointer chosen) {
    launch("nbcc_far_compare", tree.count(),
           FarCompareArgument{at<const double>(positions), at<const long long>(chosen),
                              at<const unsigned>(tree.numbers()), at<const long long>(tree.order()), tree.coordinates(),
                              tree.count(), kernels_.axes, at<unsigned>(flags_.data())});
  };
  compare(of_j, positions_of_j_.data(), 0);
  if (&of_i != &of_j) compare(of_i, positions_of_i_.data(), chosen_);
  return fetch_flags().first == 0;
}

FarThinArgument CudaFarParticles::thin_argument(const CudaBuffer& positions, Thinned& thinned) const {
  FarThinArgument argument{};
  argument.positions = at<const double>(positions.data());
  argument.thinned = at<double>(thinned.positions.data());
  argument.count = thinned.count;
  argument.stride = thinned.stride;
  argument.axes = kernels_.axes;
  return argument;
}

void CudaFarParticles::keep_positions() {
  const auto keep = [&](const CudaBuffer& positions, std::int64_t particles, Thinned& thinned) {
    thinned.particles = particles;
    thinned.stride = std::max<std::int64_t>(1, ceil_div(particles, kKept));
    thinned.count = ceil_div(particles, thinned.stride);
    reserve_elements(thinned.positions, thinned.count * kernels_.axes, sizeof(double), "positions");
    launch("nbcc_far_thin", thinned.count, thin_argument(positions, thinned));
  };
  keep(positions_of_i_, particles_.ni, thinned_i_);
  keep(positions_of_j_, particles_.nj, thinned_j_);
}

bool CudaFarParticles::have_moved(double far, double share) {
  if (particles_.ni != thinned_i_.particles || particles_.nj != thinned_j_.particles) return true;
  clear_flags();
  const auto count = [&](const CudaBuffer& positions, Thinned& thinned, std::uint64_t flag) {
    FarThinArgument argument = thin_argument(positions, thinned);
    argument.far = far;
    argument.moved = at<unsigned>(flags_.data()) + flag;
    launch("nbcc_far_moved", thinned.count, argument);
  };
  count(positions_of_i_, thinned_i_, 0);
  count(positions_of_j_, thinned_j_, 1);
  const auto [of_i, of_j] = fetch_flags();
  return of_i > share * double(thinned_i_.count) || of_j > share * double(thinned_j_.count);
}

// change: index of the first number; -1: the norms are kept.
void CudaFarParticles::launch_norms(const CudaFarColumns& values, int components, const Norms& norms,
                                    std::int64_t change) {
  if (norms.count == 0 || components == 0) return;
  FarNormsArgument argument{};
  argument.values = values.columns();
  argument.order = at<const long long>(norms.order.data());
  argument.count = norms.count;
  argument.blocks = FarBlocks{norms.count}.count();
  argument.components = components;
  argument.keeps = change < 0 ? 1 : 0;
  argument.norms = at<double>(norms.norms.data());
  argument.change = at<unsigned>(change_.data()) + std::max<std::int64_t>(change, 0);
  launch("nbcc_far_norms", 32 * argument.blocks * components, argument);
}

void CudaFarParticles::keep_norms(const CudaFarTree& tree, const CudaFarColumns& values, int components, Norms& kept) {
  kept.count = components > 0 ? tree.count() : 0;
  if (kept.count == 0) return;
  reserve_elements(kept.order, kept.count, sizeof(std::int64_t), "an order of particles");
  reserve_elements(kept.norms, 3 * components * FarBlocks{kept.count}.count(), sizeof(double), "norms");
  gpu_.require(gpu_.driver().memcpy_async(kept.order.data(), tree.order(),
                                          std::size_t(kept.count) * sizeof(std::int64_t), stream_),
               "copying the order of particles");
  launch_norms(values, components, kept, -1);
}

void CudaFarParticles::keep_norms(const CudaFarTree& of_i, const CudaFarTree& of_j) {
  keep_norms(of_j, weights_, kernels_.weights, norms_of_weights_);
  keep_norms(of_i, factors_, kernels_.factors, norms_of_factors_);
}

std::pair<FarChange, FarChange> CudaFarParticles::change_of_norms() {
  constexpr int kNumbers = 3;  // of a FarChange
  float found[2][kNumbers];
  reserve_elements(change_, 2 * kNumbers, sizeof(unsigned), "changes of norms");
  for (const int side : {0, 1}) {
    const CudaDevicePointer first = change_.data() + std::size_t(side * kNumbers) * sizeof(unsigned);
    gpu_.require(gpu_.driver().memset_d32_async(first, kInfinityBits, 1, stream_), "clearing changes");
    gpu_.require(gpu_.driver().memset_d32_async(first + sizeof(unsigned), 0, kNumbers - 1, stream_),
                 "clearing changes");
  }
  launch_norms(weights_, kernels_.weights, norms_of_weights_, 0);
  launch_norms(factors_, kernels_.factors, norms_of_factors_, kNumbers);
  pinned_.reserve(sizeof found);
  gpu_.fetch(pinned_.data(), change_.data(), sizeof found, stream_);
  gpu_.synchronize(stream_);
  std::memcpy(found, pinned_.data(), sizeof found);
  const auto change = [&](int side) { return FarChange{found[side][0], found[side][1], found[side][2]}; };
  return {change(0), change(1)};
}

std::vector<double> CudaFarParticles::picked(const FarArray& columns, int count,
                                             std::span<const std::int64_t> particles) {
  const auto rows = std::int64_t(particles.size());
  std::vector<double> values(std::size_t(rows * count));
  if (values.empty()) return values;
  reserve_elements(picked_, rows, sizeof(std::int64_t), "numbers of a sample");
  reserve_elements(rows_, rows * count, sizeof(double), "a sample");
  gpu_.send(picked_.data(), particles.data(), particles.size_bytes(), stream_);
  launch(
      "nbcc_far_pick", rows,
      FarPickArgument{
          {columns.data, columns.stride}, count, at<const long long>(picked_.data()), rows, at<double>(rows_.data())});
  gpu_.fetch(values.data(), rows_.data(), values.size() * sizeof(double), stream_);
  gpu_.synchronize(stream_);
  return values;
}

std::int64_t CudaFarParticles::bytes() const {
  std::size_t bytes = inputs_.bytes();
  for (const CudaBuffer* buffer :
       {&positions_of_i_, &positions_of_j_, &list_, &norms_of_factors_.order, &norms_of_weights_.order})
    bytes += buffer->bytes();
  return std::int64_t(bytes) + weights_.bytes() + factors_.bytes();
}

}  // namespace nbcc
