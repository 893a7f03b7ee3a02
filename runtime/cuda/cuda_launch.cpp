// Pieces of a run -> launches. Door: CudaLauncher. Where arrays lie and which pieces there are is decided elsewhere.
#include "runtime/cuda/cuda_launch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {

void CudaLauncher::set_overrides(const LaunchConfig& overrides) {
  overrides_ = overrides;
  ni_ = nj_ = -1;
}

void CudaLauncher::configure(std::int64_t ni, std::int64_t nj, bool exclusions, bool may_load) {
  if (ni == ni_ && nj == nj_ && exclusions == exclusions_) return;
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
  exclusions_ = exclusions;
}

LaunchConfig CudaLauncher::config() const {
  LaunchConfig config = program_->config();
  config.j_splits = splits_of(nj_);
  return config;
}

// No split is without a tile.
int CudaLauncher::splits_of(std::int64_t nj) const {
  return int(std::clamp<std::int64_t>(ceil_div(nj, program_->config().j_tile), 1, j_splits_));
}

std::size_t CudaLauncher::arrived_bytes(std::int64_t ni) const {
  return std::size_t(ceil_div(ni, i_per_block()) * j_splits_) * sizeof(unsigned);
}

bool CudaLauncher::has_room(std::int64_t ni) const {
  return std::size_t(ni * bytes_per_i()) <= partial_.bytes() && arrived_bytes(ni) <= arrived_.bytes();
}

bool CudaLauncher::reserve(std::int64_t ni, CudaStream* stream) {
  if (!partial_.reserve(std::size_t(ni * bytes_per_i()))) return false;
  const std::size_t before = arrived_.bytes();
  if (!arrived_.reserve(arrived_bytes(ni))) return false;
  if (arrived_.bytes() == before) return true;
  const CudaGpu& gpu = kernel_.gpu();
  try {
    gpu.require(gpu.driver().memset_d32_async(arrived_.data(), 0, arrived_.bytes() / sizeof(unsigned), stream),
                "clearing memory of the GPU");
  } catch (...) {
    // Never taken for cleared.
    arrived_.release();
    throw;
  }
  return true;
}

void CudaLauncher::release() {
  partial_.release();
  arrived_.release();
}

void CudaLauncher::keep_old() {
  partial_.keep_old();
  arrived_.keep_old();
}

void CudaLauncher::check_indices(const CudaPiece& piece, const CudaRunContext& context) {
  set_piece(piece);
  index_checks_.launch(context.request, context.stream, context.capturing);
}

CudaOccupancy CudaLauncher::occupancy() const { return {kernel_.gpu().multiprocessors(), program_->resident_blocks()}; }

void CudaLauncher::ask(Progress* progress) {
  pace_.begin(progress);
  const double cycles = CudaPace::kLongest * kernel_.gpu().clock_hertz();
  slice_ = progress ? choose_slice(kernel_.source, config(), occupancy(), ni_, nj_, cycles) : 0;
}

// The memory of j-splits is that of this configuration.
void CudaLauncher::set_piece(const CudaPiece& piece) {
  arguments_.set_piece(piece);
  arguments_.run().partial = partial_.data();
  arguments_.run().arrived = arrived_.data();
}

// A launch of no j that goes on with earlier ones has its i from them, and stores.
void CudaLauncher::launch(const CudaPiece& piece, const CudaRunContext& context) {
  // Before any slice stores a result, which may lie over the inputs that indices are made of.
  if (piece.first || piece.nj > 0) check_indices(piece, context);
  const std::int64_t step = slice_ > 0 ? slice_ : piece.ni;
  for (std::int64_t begin = 0; begin < piece.ni; begin += step) {
    CudaPiece slice = piece;
    slice.ni = std::min(step, piece.ni - begin);
    slice.i_begin += begin;
    if (piece.i_list != 0) slice.i_list += std::uint64_t(begin) * sizeof(std::int64_t);
    if (piece.accumulators.at != 0) slice.accumulators.at += std::uint64_t(begin) * sizeof(double);
    launch_slice(slice, context);
  }
}

void CudaLauncher::launch_slice(const CudaPiece& piece, const CudaRunContext& context) {
  if (pace_.is_asked()) {
    const double cycles = predict_cycles(kernel_.source, config(), occupancy(), piece.ni, piece.nj);
    pace_.make_room(cycles / kernel_.gpu().clock_hertz(), double(piece.ni) * double(piece.nj), context.stream);
  }
  set_piece(piece);
  CudaLeftOutTable left_out = left_out_.table();
  void* arguments[] = {arguments_.data(), &left_out};
  const auto blocks = unsigned(ceil_div(piece.ni, i_per_block())), splits = unsigned(splits_of(piece.nj));
  // With few particles getting ready is a fifth of the time. Not into graphs: docs/decisions/early_launches.md.
  launch_kernel(kernel_.gpu(), program_->function(), "nbcc_interact", blocks, splits,
                unsigned(program_->config().threads), arguments, context.stream,
                program_->waits() && !context.capturing);
}

}  // namespace nbcc
