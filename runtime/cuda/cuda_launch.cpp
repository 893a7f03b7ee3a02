// Pieces of a run -> launches. Door: CudaLauncher. Where arrays lie and which pieces there are is decided elsewhere.
#include "runtime/cuda/cuda_launch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

std::int64_t ceil_div(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

}  // namespace

void CudaLauncher::set_overrides(const LaunchConfig& overrides) {
  overrides_ = overrides;
  ni_ = nj_ = -1;
}

void CudaLauncher::leave_out(const CudaLeftOut* left_out) {
  if (std::exchange(left_out_, left_out) != left_out) ni_ = nj_ = -1;
}

void CudaLauncher::configure(std::int64_t ni, std::int64_t nj, bool may_load) {
  if (ni == ni_ && nj == nj_) return;
  const auto [program, j_splits] = kernel_.launch_for(ni, nj, left_out_ != nullptr, may_load, overrides_);
  if (!program) {
    throw DeviceError(
        "a kernel for this number of particles is not loaded yet, which cannot be done while a stream is "
        "captured: run once before the capture");
  }
  program_ = program;
  j_splits_ = j_splits;
  ni_ = ni;
  nj_ = nj;
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

void CudaLauncher::check_indices(const CudaPiece& piece, CudaStream* stream) {
  set_piece(piece);
  index_checks_.launch(stream, capturing_);
}

CudaOccupancy CudaLauncher::occupancy() const { return {kernel_.gpu().multiprocessors(), program_->resident_blocks()}; }

void CudaLauncher::ask(Progress* progress, bool goes_on) {
  pace_.begin(progress);
  if (goes_on) return;
  const double cycles = CudaPace::kLongest * kernel_.gpu().clock_hertz();
  slice_ = progress ? choose_slice(kernel_.source, config(), occupancy(), ni_, nj_, cycles) : 0;
}

void CudaLauncher::set_piece(const CudaPiece& piece) {
  CudaRun& run = arguments_.run();
  run.running = piece.running;
  run.partial = partial_.data();
  run.arrived = arrived_.data();
  run.i_list = piece.i_list;
  run.i_begin = piece.i_begin;
  run.ni = piece.ni;
  run.j_begin = piece.j_begin;
  run.nj = piece.nj;
  run.first = piece.first ? 1 : 0;
  run.last = piece.last ? 1 : 0;
}

// A launch of no j that goes on with earlier ones has its i from them, and stores.
void CudaLauncher::launch(const CudaPiece& piece, CudaStream* stream) {
  // Before any slice stores a result, which may lie over the inputs that indices are made of.
  set_piece(piece);
  if (piece.first || piece.nj > 0) index_checks_.launch(stream, capturing_);
  const std::int64_t step = slice_ > 0 ? slice_ : piece.ni;
  for (std::int64_t begin = 0; begin < piece.ni; begin += step) {
    CudaPiece slice = piece;
    slice.ni = std::min(step, piece.ni - begin);
    slice.i_begin += begin;
    if (piece.i_list != 0) slice.i_list += std::uint64_t(begin) * sizeof(std::int64_t);
    if (piece.running != 0) slice.running += std::uint64_t(begin * accumulators_) * sizeof(double);
    launch_slice(slice, stream);
  }
}

void CudaLauncher::launch_slice(const CudaPiece& piece, CudaStream* stream) {
  if (pace_.is_asked()) {
    const double cycles = predict_cycles(kernel_.source, config(), occupancy(), piece.ni, piece.nj);
    pace_.make_room(cycles / kernel_.gpu().clock_hertz(), double(piece.ni) * double(piece.nj), stream);
  }
  set_piece(piece);
  launch(unsigned(ceil_div(piece.ni, i_per_block())), unsigned(splits_of(piece.nj)), stream);
}

void CudaLauncher::launch(unsigned blocks, unsigned splits, CudaStream* stream) {
  CudaLeftOutTable left_out = left_out_ ? left_out_->table() : CudaLeftOutTable{};
  void* arguments[] = {arguments_.data(), &left_out};
  // With few particles getting ready is a fifth of the time. Not into graphs: docs/decisions/early_launches.md.
  launch_kernel(kernel_.gpu(), program_->function(), "nbcc_interact", blocks, splits,
                unsigned(program_->config().threads), arguments, stream, program_->waits() && !capturing_);
}

}  // namespace nbcc
