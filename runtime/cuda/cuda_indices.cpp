// One launch of checks, and what it reports. Door: CudaIndexChecks.
#include "runtime/cuda/cuda_indices.h"

#include <algorithm>
#include <cstring>

#include "runtime/error.h"
#include "runtime/sum/index_check.h"

namespace nbcc {
namespace {

// Report and IndexCheck of the template.
struct Report {
  std::int64_t check, value[kIndexSides], particle[kIndexSides];
};
struct Argument {
  CudaDevicePointer ranges, arrived, report;
  std::int64_t pairs, params_by_group;
};

std::int64_t bytes_of_ranges(const IndexChecks& checks) {
  std::int64_t count = 0;
  for (const int of_side : checks.ranges) count += of_side;
  return count * 16;
}

std::int64_t count_of_listed(const KernelSource& source, const SumRequest& request) {
  for (std::size_t f = 0; f < source.fields.size(); ++f)
    if (source.fields[f].role == Role::InputPair) return request.views[f].count;
  return 0;
}

}  // namespace

CudaIndexChecks::CudaIndexChecks(const CudaKernel& kernel, CudaArguments& arguments)
    : kernel_(kernel), arguments_(arguments), ranges_(kernel.gpu()), report_(kernel.gpu()) {}

void CudaIndexChecks::begin(const SumRequest& request, bool capturing) {
  const KernelSource& source = kernel_.source;
  wanted_ = request.check_indices && !source.index_text.empty();
  if (!wanted_) return;
  pairs_ = count_of_listed(source, request);
  params_by_group_ = !request.params_of_groups.empty();
  if (program_) return;
  if (capturing)
    throw DeviceError(
        "the code that checks the indices of tables is not loaded yet, which cannot be done while a stream is "
        "captured: "
        "run once before the capture");
  const CudaGpu& gpu = kernel_.gpu();
  const CudaProgram* const program = kernel_.program_of(cuda_index_text(source));
  const std::int64_t bytes = bytes_of_ranges(source.index_checks) + 8;
  if (!ranges_.reserve(std::size_t(bytes)))
    throw DeviceError("out of memory of the GPU: there is no room to check the indices of tables");
  report_.reserve(sizeof(Report));
  std::memset(report_.data(), 0, sizeof(Report));
  gpu.require(gpu.driver().memset_d32_async(ranges_.data(), 0, std::size_t(bytes) / 4, nullptr),
              "clearing memory of the GPU");
  gpu.synchronize(nullptr);
  program_ = program;
}

void CudaIndexChecks::launch(CudaStream* stream, bool capturing) {
  if (!wanted_) return;
  const CudaRun& run = arguments_.run();
  const std::int64_t most = std::max({run.ni, run.nj, pairs_}), threads = kIndexLaunch.threads;
  const std::int64_t blocks =
      std::min((most + threads - 1) / threads, std::int64_t(2 * kernel_.gpu().multiprocessors()));
  Argument argument{ranges_.data(), ranges_.data() + std::uint64_t(bytes_of_ranges(kernel_.source.index_checks)),
                    reinterpret_cast<std::uintptr_t>(report_.data()), pairs_, params_by_group_ ? 1 : 0};
  void* arguments[] = {arguments_.data(), &argument};
  launch_kernel(kernel_.gpu(), program_->function(), "the check of table indices",
                unsigned(std::max<std::int64_t>(blocks, 1)), 1, unsigned(threads), arguments, stream,
                program_->waits() && !capturing);
}

void CudaIndexChecks::report(const std::int64_t* i_numbers, std::int64_t i_first) {
  if (!program_) return;
  Report found;
  std::memcpy(&found, report_.data(), sizeof found);
  if (found.check == 0) return;
  std::memset(report_.data(), 0, sizeof found);
  IndexBeyond beyond{std::size_t(found.check - 1), {}, {}};
  std::copy_n(found.value, kIndexSides, beyond.value.begin());
  std::copy_n(found.particle, kIndexSides, beyond.particle.begin());
  if (i_numbers && beyond.particle[0] >= 0) beyond.particle[0] = i_numbers[beyond.particle[0] - i_first];
  throw_index_beyond(kernel_.source, beyond);
}

}  // namespace nbcc
