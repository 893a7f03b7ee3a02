// Launches the check of table indices and reads its report. Interface: CudaIndexChecks.
#include "runtime/cuda/launch/cuda_indices.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

#include "runtime/error.h"
#include "runtime/sum/request/index_check.h"
#include "templates/cuda/frames/cuda_index_data.h"

namespace nbcc {
namespace {

using index_data::Report;
static_assert(std::size(Report{}.value) == kIndexSides && std::size(Report{}.particle) == kIndexSides);

// Bytes of the ranges of one block.
std::int64_t bytes_of_ranges(const IndexChecks& checks) {
  std::int64_t count = 0;
  for (const int of_side : checks.ranges) count += of_side;
  return count * std::int64_t(sizeof(index_data::Range));
}

constexpr std::int64_t kCounterBytes = 256;

std::int64_t count_of_listed(const KernelSource& source, const SumRequest& request) {
  for (std::size_t f = 0; f < source.fields.size(); ++f)
    if (source.fields[f].role == Role::InputPair) return request.views[f].count;
  return 0;
}

}  // namespace

CudaIndexChecks::CudaIndexChecks(const CudaKernel& kernel, CudaArguments& arguments)
    : kernel_(kernel), arguments_(arguments), listed_(kernel.gpu()), ranges_(kernel.gpu()), report_(kernel.gpu()) {}

std::int64_t CudaIndexChecks::max_blocks() const { return 2 * kernel_.gpu().multiprocessors(); }

bool CudaIndexChecks::checks(const SumRequest& request) const {
  return request.check_indices && kernel_.source.find(Frame::IndexChecks);
}

bool CudaIndexChecks::sends(const SumRequest& request) const {
  return request.check_indices && request.listed && request.listed->number != listed_number_;
}

void CudaIndexChecks::send_listed(const ListedParticles& listed, bool capturing) {
  if (capturing)
    throw DeviceError(
        "the particles of new lists, whose indices of tables are checked, are sent to the GPU, which cannot be done "
        "while "
        "a stream is captured: run once before the capture");
  const CudaGpu& gpu = kernel_.gpu();
  const std::size_t i_bytes = listed.i.size() * sizeof(std::int64_t), j_bytes = listed.j.size() * sizeof(std::int64_t);
  listed_number_ = 0;
  if (!listed_.reallocate(i_bytes + j_bytes + 1))
    throw DeviceError("out of memory of the GPU: there is no room to check the indices of tables");
  if (i_bytes > 0) gpu.send(listed_.data(), listed.i.data(), i_bytes, nullptr);
  if (j_bytes > 0) gpu.send(listed_.data() + i_bytes, listed.j.data(), j_bytes, nullptr);
  gpu.synchronize(nullptr);
  listed_number_ = listed.number;
}

void CudaIndexChecks::prepare(const SumRequest& request, bool capturing) {
  const KernelSource& source = kernel_.source;
  if (!checks(request)) return;
  if (capturing) listed_.retain_for_capture();
  if (sends(request)) send_listed(*request.listed, capturing);
  if (program_) return;
  if (capturing)
    throw DeviceError(
        "the code that checks the indices of tables is not loaded yet, which cannot be done while a stream is "
        "captured: "
        "run once before the capture");
  const CudaGpu& gpu = kernel_.gpu();
  const KernelVariant& checks = *source.find(Frame::IndexChecks);
  const CudaProgram* const program = kernel_.program_of({checks.frame, checks.launches.front()});
  const std::int64_t bytes = kCounterBytes + max_blocks() * bytes_of_ranges(source.index_checks);
  if (!ranges_.reserve(std::size_t(bytes)))
    throw DeviceError("out of memory of the GPU: there is no room to check the indices of tables");
  report_.reserve(sizeof(Report));
  std::memset(report_.data(), 0, sizeof(Report));
  try {
    gpu.require(gpu.driver().memset_d32_async(ranges_.data(), 0, kCounterBytes / 4, nullptr),
                "clearing memory of the GPU");
    gpu.synchronize(nullptr);
  } catch (...) {
    // Freeing waits for a memset that may still write.
    ranges_.release();
    throw;
  }
  program_ = program;
}

void CudaIndexChecks::launch(const SumRequest& request, CudaStream* stream, bool capturing) {
  if (!checks(request)) return;
  const CudaRun& run = arguments_.run();
  const ListedParticles* const particles = request.listed;
  const auto listed_i = std::int64_t(particles ? particles->i.size() : 0);
  const auto listed_j = std::int64_t(particles ? particles->j.size() : 0);
  const std::int64_t ni = request.lists_chosen_i ? listed_i : run.ni, nj = particles ? listed_j : run.nj;
  const std::int64_t pairs = count_of_listed(kernel_.source, request);
  const std::int64_t most = std::max({ni, nj, pairs, std::int64_t(1)}), threads = program_->config().threads;
  const std::int64_t blocks = std::min(ceil_div(most, threads), max_blocks());
  const auto* const listed = gpu_pointer<const index_data::index>(listed_.data());
  index_data::IndexCheck argument{gpu_pointer<index_data::Range>(ranges_.data() + std::uint64_t(kCounterBytes)),
                                  gpu_pointer<unsigned>(ranges_.data()),
                                  reinterpret_cast<Report*>(report_.data()),
                                  pairs,
                                  request.lists_chosen_i ? listed : nullptr,
                                  particles ? listed + listed_i : nullptr,
                                  listed_i,
                                  listed_j,
                                  request.params_of_groups.empty() ? 0 : 1};
  void* arguments[] = {arguments_.data(), &argument};
  launch_kernel(kernel_.gpu(), program_->function(), "the check of table indices", unsigned(blocks), 1,
                unsigned(threads), arguments, stream, program_->waits() && !capturing);
}

void CudaIndexChecks::report(const std::int64_t* i_numbers, std::int64_t i_first) {
  if (!program_) return;
  // A launch may be running. It writes the number of the check last, after the other members.
  auto* const report = reinterpret_cast<Report*>(report_.data());
  const std::atomic_ref<index_data::index> check(report->check);
  Report found{check.load(std::memory_order_acquire), {}, {}};
  if (found.check == 0) return;
  std::copy_n(report->value, kIndexSides, found.value);
  std::copy_n(report->particle, kIndexSides, found.particle);
  check.store(0, std::memory_order_release);
  IndexOutOfRange beyond{std::size_t(found.check - 1), {}, {}};
  std::copy_n(found.value, kIndexSides, beyond.value.begin());
  std::copy_n(found.particle, kIndexSides, beyond.particle.begin());
  if (const std::int64_t i_offset = arguments_.run().i_offset; i_numbers && found.particle[0] >= 0)
    beyond.particle[0] = i_numbers[found.particle[0] - i_offset - i_first] + i_offset;
  throw_index_out_of_range(kernel_.source, beyond);
}

}  // namespace nbcc
