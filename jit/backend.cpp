// The table of backends. Entry points: backends(), backend_named().
#include "jit/backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/emit/cuda/emit_cuda.h"
#include "jit/cpu_jit.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// The source of the variant with this frame; of the first variant if the kernel has none.
template <Frame frame>
std::string source_of_frame(const KernelSource& kernel) {
  const KernelVariant* const variant = kernel.find(frame);
  return variant ? variant->source : kernel.first().source;
}

std::string source_of_search(const KernelSource& kernel) {
  if (kernel.find(Frame::Search)) return source_of_frame<Frame::Search>(kernel);
  throw UsageError(fmt::format("pipeline '{}' has no search: no neighbourhood is proved of it{}{}", kernel.pipeline,
                               kernel.search.obstacle.empty() ? "" : "; ", kernel.search.obstacle));
}

template <Frame frame>
std::string source_of_symmetric(const KernelSource& kernel) {
  const DerivedKernels& made = kernel.derivations->row("symmetric", Precision::Single);
  if (made.obstacle.empty()) return source_of_frame<frame>(*made.kernels.front().source);
  throw UsageError(
      fmt::format("pipeline '{}' has no kernel that computes each pair once: {}", kernel.pipeline, made.obstacle));
}

template <MatrixUnits units>
std::string source_by_matrices(const KernelSource& kernel) {
  const DerivedKernels& made = kernel.derivations->row("matrix units", Precision::Single);
  const DerivedKernel* const found = made.find(units == MatrixUnits::Half ? "half" : "two halves");
  if (found) return found->source->first().source;
  throw UsageError(fmt::format("pipeline '{}' has no kernel with matrix instructions: {}", kernel.pipeline,
                               made.facts ? made.as<MatrixFacts>().obstacle : made.obstacle));
}

constexpr KernelStage kCpuStages[] = {{"cpu", source_of_frame<Frame::AllPairs>},
                                      {"cpu-symmetric", source_of_symmetric<Frame::AllPairs>},
                                      {"asm", cpu_assembly}};
constexpr KernelStage kCudaStages[] = {{"cuda", source_of_frame<Frame::AllPairs>},
                                       {"cuda-search", source_of_search},
                                       {"cuda-lists", source_of_frame<Frame::Lists>},
                                       {"cuda-pairs", source_of_frame<Frame::ListedPairs>},
                                       {"cuda-symmetric", source_of_symmetric<Frame::Symmetric>},
                                       {"cuda-half", source_by_matrices<MatrixUnits::Half>},
                                       {"cuda-two-halves", source_by_matrices<MatrixUnits::TwoHalves>}};

constexpr Backend kBackends[] = {
    {.name = CpuDevice::kBackend,
     .file_ending = "cpp",
     .tests_cutoff = true,
     .checks_symmetric = false,
     .stores_pair_values = true,
     .has_matrix_units = false,
     .target = [](Isa isa) { return facts(isa).target; },
     .emit = emit_cpu,
     .provide_compiler = [](KernelDevice& device) { dynamic_cast<CpuDevice&>(device).provide(make_cpu_toolchain()); },
     .stages = kCpuStages},
    {.name = CudaGpus::kBackend,
     .file_ending = "cu",
     .tests_cutoff = false,
     .checks_symmetric = true,
     .stores_pair_values = false,
     .has_matrix_units = true,
     .target = [](Isa) { return cuda_target(); },
     .emit = [](const Pipeline& optimized, const Options& options, Isa, const Neighbourhood* neighbourhood,
                const TableIndices& indices) { return emit_cuda(optimized, options, neighbourhood, indices); },
     .provide_compiler = [](KernelDevice&) {},  // the device has loaded NVRTC itself, if it is installed
     .stages = kCudaStages},
};

}  // namespace

std::span<const Backend> backends() { return kBackends; }

const Backend& backend_named(std::string_view name) {
  const auto* const found = std::ranges::find(kBackends, name, &Backend::name);
  if (found == std::end(kBackends)) throw UsageError(fmt::format("there is no compiler for devices of '{}'", name));
  return *found;
}

}  // namespace nbcc
