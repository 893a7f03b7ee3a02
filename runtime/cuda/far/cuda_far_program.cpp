// Text and macros -> launches. Entry points: the header.
#include "runtime/cuda/far/cuda_far_program.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "runtime/cuda/driver/choose_launch.h"
#include "runtime/cuda/program/cuda_arguments.h"
#include "runtime/error.h"
#include "runtime/thread_pool.h"

namespace nbcc {

void CudaFarProgram::launch(const char* name, std::int64_t blocks, int threads,
                            std::initializer_list<const void*> arguments, CudaStream* stream) const {
  if (blocks == 0) return;
  CudaFunction*& function = functions_[name];
  if (!function) function = kernel_->program().find(name);
  std::array<void*, 8> addresses{};
  std::ranges::transform(arguments, addresses.begin(), [](const void* at) { return const_cast<void*>(at); });
  launch_kernel(gpu(), function, name, unsigned(blocks), 1, unsigned(threads), addresses.data(), stream, overlaps_);
}

void compile_far_programs(const CudaKernel& any, const FarKernels& kernels, std::span<const int> orders) {
  struct Program {
    KernelSource source;
    CudaVariant variant;
  };
  std::vector<Program> programs;
  const auto add = [&](KernelSource source) {
    const KernelVariant& first = source.first();
    const CudaVariant variant{first.frame, first.launches.front()};
    programs.push_back({std::move(source), variant});
  };
  // As CudaLists::variant() chooses. The lists of `measured` have no shifts.
  for (const KernelSource* source : {&kernels.near, &kernels.distant, &kernels.measured})
    programs.push_back({*source,
                        {Frame::Lists, source->find(Frame::Lists)->launches.front(), false,
                         source != &kernels.measured && kernels.periods && !source->on_gpu.shifts_packed}});
  // As CudaKernel will probably choose for a sample of many particles.
  constexpr int kResidentBlocks = 4, kSampled = 256, kParticles = 1 << 20;
  const CudaOccupancy occupancy{any.gpu().multiprocessors(), kResidentBlocks, any.gpu().rates()};
  const KernelVariant& of_sample = kernels.sample.first();
  if (const LaunchConfig chosen =
          choose_launch(kernels.sample, of_sample.launches, occupancy, kSampled, kParticles).compiled();
      chosen != of_sample.launches.front().compiled())
    programs.push_back({kernels.sample, {of_sample.frame, chosen}});
  for (const KernelSource* source : {&kernels.sample, &kernels.near, &kernels.measured, &kernels.distant,
                                     &kernels.sources, &kernels.targets, &kernels.finish})
    add(*source);
  if (kernels.means) add(*kernels.means);
  for (const int order : orders) add(far_grids_source(kernels.axes, order));
  add(far_tree_source(kernels.axes));
  add(radix_sort_source());
  add(far_walk_source());
  add(far_particles_source());
  if (kernels.periods) add(far_images_source());
  // A program that is rejected is compiled again where it is used, which reports it.
  ThreadPool(0).parallel_for(std::int64_t(programs.size()), [&](std::int64_t k) {
    const Program& program = programs[std::size_t(k)];
    try {
      any.compile(program.source, program.variant);
    } catch (const std::exception&) {
    }
  });
}

void reserve_elements(CudaBuffer& buffer, std::int64_t count, std::size_t bytes_of_element, const char* what) {
  const std::size_t bytes = std::size_t(count) * bytes_of_element;
  if (!buffer.reserve(bytes))
    throw DeviceError(fmt::format("out of memory of the GPU: {} of a far field need {} MB", what, bytes >> 20));
}

}  // namespace nbcc
