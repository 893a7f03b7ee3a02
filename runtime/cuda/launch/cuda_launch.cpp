// Pieces of a run -> launches. Interface: CudaLauncher. Callers decide where arrays are and which pieces there are.
#include "runtime/cuda/launch/cuda_launch.h"

#include <algorithm>
#include <span>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/request/divide_i.h"

namespace nbcc {

void CudaLauncher::set_overrides(const LaunchConfig& overrides) {
  overrides_ = overrides;
  ni_ = nj_ = -1;
}

void CudaLauncher::configure(std::int64_t ni, std::int64_t nj, bool exclusions, bool may_load) {
  launches_ = 0;
  if (ni == ni_ && nj == nj_ && exclusions == has_exclusions_) return;
  const auto [program, j_splits] = kernel_.launch_for(ni, nj, exclusions, may_load, overrides_);
  if (!program) {
    throw DeviceError(
        "a kernel for this number of particles is not loaded yet, which cannot be done while a stream is "
        "captured: run once before the capture");
  }
  program_ = program;
  j_splits_ = j_splits;
  ni_ = ni;
  nj_ = nj;
  has_exclusions_ = exclusions;
}

void CudaLauncher::configure_without_pairs() {
  launches_ = 0;
  program_ = &kernel_.program();
  j_splits_ = 1;
  ni_ = nj_ = -1;
  has_exclusions_ = false;
}

LaunchConfig CudaLauncher::config() const {
  LaunchConfig config = program_->config();
  config.j_splits = splits_of(nj_);
  return config;
}

// At most one split per tile.
int CudaLauncher::splits_of(std::int64_t nj) const {
  return int(std::clamp<std::int64_t>(ceil_div(nj, program_->config().j_tile), 1, j_splits_));
}

std::size_t CudaLauncher::arrived_bytes(std::int64_t ni) const {
  return std::size_t(ceil_div(ni, i_per_block()) * j_splits_) * sizeof(unsigned);
}

bool CudaLauncher::has_room(std::int64_t ni) const {
  return std::size_t(ni * bytes_per_i()) <= partial_.bytes() && arrived_bytes(ni) <= arrived_.bytes() &&
         vectors_.has_room(ni, nj_);
}

bool CudaLauncher::reserve(std::int64_t ni, CudaStream* stream) {
  if (!partial_.reserve(std::size_t(ni * bytes_per_i())) || !vectors_.reserve(ni, nj_)) return false;
  const std::size_t before = arrived_.bytes();
  if (!arrived_.reserve(arrived_bytes(ni))) return false;
  if (arrived_.bytes() == before) return true;
  const CudaGpu& gpu = kernel_.gpu();
  try {
    gpu.require(gpu.driver().memset_d32_async(arrived_.data(), 0, arrived_.bytes() / sizeof(unsigned), stream),
                "clearing memory of the GPU");
  } catch (...) {
    // The next run must not take this memory for cleared.
    arrived_.release();
    throw;
  }
  return true;
}

void CudaLauncher::release() {
  partial_.release();
  arrived_.release();
  vectors_.release();
  for (SentArgument& sent : sent_arguments_) sent.bytes.clear(), sent.on_gpu.release();
}

void CudaLauncher::retain_for_capture() {
  partial_.retain_for_capture();
  arrived_.retain_for_capture();
  vectors_.retain_for_capture();
}

void CudaLauncher::check_indices(const CudaPiece& piece, const CudaRunContext& context) {
  set_piece(piece);
  index_checks_.launch(context.request, context.stream, context.capturing);
}

CudaOccupancy CudaLauncher::occupancy() const { return program_->occupancy(); }

void CudaLauncher::set_progress(Progress* progress) {
  pace_.begin(progress);
  const double cycles = CudaPace::kMaxLaunchSeconds * kernel_.gpu().clock_hertz();
  slice_ = progress && ni_ > 0 ? choose_slice(kernel_.source, config(), occupancy(), ni_, nj_, cycles) : 0;
}

// `partial` and `arrived` are those of the current configuration.
void CudaLauncher::set_piece(const CudaPiece& piece) {
  arguments_.set_piece(piece);
  arguments_.run().partial = partial_.data();
  arguments_.run().arrived = arrived_.data();
}

void CudaLauncher::launch(const CudaPiece& piece, const CudaRunContext& context) {
  // Check before any slice stores a result, which may overwrite the inputs that indices are computed from. A launch
  // without j that continues earlier launches only stores: its i were checked before.
  if (piece.first || piece.nj > 0) check_indices(piece, context);
  for_ranges_of_i(piece.ni, slice_,
                  [&](std::int64_t begin, std::int64_t count) { launch_slice(piece.with_i(begin, count), context); });
}

// The argument of the run's next launch, sent if it differs from that of the same launch of the last run. A graph reads
// it in its own memory, which later arguments are not written to.
CudaDevicePointer CudaLauncher::sent_argument(const CudaRunContext& context) {
  const CudaGpu& gpu = kernel_.gpu();
  if (launches_ == sent_arguments_.size()) sent_arguments_.emplace_back(gpu);
  SentArgument& sent = sent_arguments_[launches_++];
  const auto* const now = static_cast<const std::byte*>(arguments_.data());
  if (context.capturing) sent.on_gpu.retain_for_capture();
  if (std::ranges::equal(sent.bytes, std::span(now, arguments_.size()))) return sent.on_gpu.data();
  if (context.capturing)
    throw DeviceError(fmt::format(
        "pipeline '{}' has loops over elements of arrays, whose addresses and params are sent to the GPU, which cannot "
        "be done while a stream is captured: run once before the capture, with the same arrays and params",
        kernel_.source.pipeline));
  sent.bytes.clear();  // until they are sent
  if (!sent.on_gpu.reallocate(arguments_.size()))
    throw DeviceError("the GPU has no memory for the arguments of a kernel");
  gpu.require(gpu.driver().memcpy_htod_async(sent.on_gpu.data(), now, arguments_.size(), context.stream),
              "copying the arguments of a kernel");
  sent.bytes.assign(now, now + arguments_.size());
  return sent.on_gpu.data();
}

void CudaLauncher::launch_slice(const CudaPiece& piece, const CudaRunContext& context) {
  if (pace_.is_active()) {
    const double cycles = predict_cycles(kernel_.source, config(), occupancy(), piece.ni, piece.nj);
    pace_.before_launch(cycles / kernel_.gpu().clock_hertz(), double(piece.ni) * double(piece.nj), context.stream);
  }
  set_piece(piece);
  list_data::ExclusionTable exclusions = exclusions_.table();
  const bool in_memory = kernel_.source.on_gpu.argument_in_memory;
  CudaDevicePointer sent = in_memory ? sent_argument(context) : 0;
  void* argument = in_memory ? static_cast<void*>(&sent) : arguments_.data();
  product_data::Products vectors = vectors_.argument(piece.ni, piece.nj);
  if (vectors_.has_any()) vectors_.launch_pack(*program_, argument, piece, context.stream);
  void* arguments[] = {argument, &exclusions, &exclusions};
  if (vectors_.has_any()) arguments[1] = &vectors;
  const auto blocks = unsigned(ceil_div(piece.ni, i_per_block())), splits = unsigned(splits_of(piece.nj));
  // PDL: with few particles the start of a kernel is a fifth of its time. Not in graphs:
  // docs/decisions/early_launches.md.
  launch_kernel(kernel_.gpu(), program_->function(), "nbcc_interact", blocks, splits,
                unsigned(program_->config().threads), arguments, context.stream,
                program_->waits() && !context.capturing, unsigned(kernel_.source.packed_vectors.shared_bytes));
}

}  // namespace nbcc
