// The number of particles -> tiles, groups and slots; launches. Interface: CudaSymmetric.
#include "runtime/cuda/methods/cuda_symmetric.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "runtime/round_up.h"

namespace nbcc {
namespace {

// From so many particles on, large tiles keep all multiprocessors busy.
constexpr std::int64_t kManyParticles = 50'000;
// Pairs of groups for each multiprocessor, at least: fewer leave some idle while the last ones work.
constexpr std::int64_t kMinPairsOfGroups = 3;
constexpr std::int64_t kStoreThreads = 128;
// Statements of pair formulas that a multiprocessor executes per clock cycle: two thirds of its peak.
constexpr double kSymmetricStatementsPerCycle = 80;

}  // namespace

// Consecutive tiles become groups until the slots fit into their memory.
CudaSymmetric::Division CudaSymmetric::divide(std::int64_t particles) const {
  const KernelVariant& variant = *kernel_.source.find(Frame::Symmetric);
  Division found{particles >= kManyParticles ? variant.launches.front() : variant.launches.back()};
  const std::int64_t tile = std::int64_t(found.config.threads) * found.config.i_per_thread;
  for (;; found.tiles *= 2) {
    found.groups = ceil_div(particles, tile * found.tiles);
    found.bytes = 2.0 * double(found.distances()) * double(particles) * variant.packed_bytes;
    if (found.bytes <= double(variant.most_bytes) || found.groups <= 1) return found;
  }
}

std::string CudaSymmetric::obstacle(std::int64_t particles, bool always) const {
  const Division division = divide(particles);
  if (always && division.bytes <= double(kernel_.source.find(Frame::Symmetric)->most_bytes)) return "";
  const std::int64_t pairs = division.groups * (division.groups + 1) / 2;
  if (pairs >= kMinPairsOfGroups * kernel_.gpu().multiprocessors()) return "";
  return division.tiles > 1 || always ? "partial sums of so many particles take too much memory of the GPU"
                                      : "there are too few particles to occupy the GPU";
}

// While the last pairs of groups are at work, multiprocessors are idle: 1.45 times the time of full use was measured
// with 4 pairs of groups for each of 132 multiprocessors, 1.09 times with 16 (bench/RESULTS.md).
double CudaSymmetric::idling(std::int64_t particles) const {
  constexpr double kIdle = 1.8;
  const auto groups = double(divide(particles).groups);
  return 1 + kIdle * kernel_.gpu().multiprocessors() / (groups * (groups + 1) / 2);
}

std::size_t CudaSymmetric::bytes_for(const SumRequest& request) const { return std::size_t(divide(request.ni).bytes); }

bool CudaSymmetric::has_room(const SumRequest& request) const {
  const Division division = divide(request.ni);
  return program_ && program_->config().compiled() == division.config.compiled() &&
         std::size_t(division.bytes) <= slots_.bytes();
}

bool CudaSymmetric::reserve(const SumRequest& request) {
  const Division division = divide(request.ni);
  const CudaProgram* const program = kernel_.program_of({Frame::Symmetric, division.config.compiled()});
  store_ = program->find("nbcc_store");
  program_ = program;
  return slots_.reserve(std::size_t(division.bytes));
}

// The rows of blocks of a launch are distances of groups, so that a long launch can be divided.
void CudaSymmetric::run(const CudaRunContext& context, const CudaPiece& piece) {
  const SumRequest& request = context.request;
  const CudaGpu& gpu = kernel_.gpu();
  const Division division = divide(request.ni);
  arguments_.set_piece(piece);
  last_ = {gpu_pointer<symmetric_data::Slot>(slots_.data()), division.groups, division.tiles, 0};
  last_particles_ = request.ni;
  symmetric_data::Symmetric argument = last_;
  void* arguments[] = {arguments_.data(), &argument};
  const std::int64_t distances = division.distances(), end = request.share.end(distances);
  argument.first_distance = request.share.begin(distances);
  const double pairs = units(request) * double(end - argument.first_distance) / double(distances);
  const double whole = pairs / 2 * slots_per_pair(kernel_.source, gpu.rates()) /
                       (kSymmetricStatementsPerCycle * gpu.cycles_per_second());
  const auto slices = std::int64_t(pace_.is_active() ? std::ceil(whole / CudaPace::kMaxLaunchSeconds) : 1);
  const std::int64_t count = end - argument.first_distance;
  const std::int64_t step = std::max<std::int64_t>(1, ceil_div(count, std::max<std::int64_t>(slices, 1)));
  for (; argument.first_distance < end; argument.first_distance += step) {
    const std::int64_t now = std::min<std::int64_t>(step, end - argument.first_distance);
    const double part = double(now) / double(count);
    pace_.before_launch(whole * part, pairs * part, context.stream);
    launch_kernel(gpu, program_->function(), "nbcc_interact", unsigned(division.groups), unsigned(now),
                  unsigned(division.config.threads), arguments, context.stream, false);
  }
  if (request.share.i_of_run == 0) store(context.stream);
}

CudaSearch::BufferRange CudaSymmetric::buffer_range(const SumRequest::Share& share) const {
  const std::int64_t distances = last_.groups / 2 + 1, begin = share.begin(distances);
  const std::int64_t bytes = 2 * last_particles_ * kernel_.source.find(Frame::Symmetric)->packed_bytes;
  return {reinterpret_cast<CudaDevicePointer>(last_.slots) + std::uint64_t(begin * bytes),
          std::size_t((share.end(distances) - begin) * bytes)};
}

void CudaSymmetric::store(CudaStream* stream) {
  void* arguments[] = {arguments_.data(), &last_};
  launch_kernel(kernel_.gpu(), store_, "nbcc_store", unsigned(ceil_div(last_particles_, kStoreThreads)), 1,
                unsigned(kStoreThreads), arguments, stream, false);
}

}  // namespace nbcc
