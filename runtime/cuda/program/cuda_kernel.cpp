// Sizes -> a program and j-splits: the caller's choice, else the stored tuning, else the model's choice. Interface:
// CudaKernel::launch_for. Launches nothing.
#include "runtime/cuda/program/cuda_kernel.h"

#include <utility>

#include "fmt/format.h"
#include "runtime/cuda/driver/choose_launch.h"
#include "runtime/error.h"

namespace nbcc {

CudaKernel::CudaKernel(KernelSource kernel_source, std::shared_ptr<CudaLoader> loader, CudaTuningTable tuned)
    : Kernel(std::move(kernel_source)), loader_(std::move(loader)), tuned_(std::move(tuned)) {
  program_of(first(false));
}

CudaVariant CudaKernel::first(bool exclusions) const {
  return {source.first().frame, source.first().launches.front(), exclusions};
}

CudaLaunch CudaKernel::launch_for(std::int64_t ni, std::int64_t nj, bool exclusions, bool may_load,
                                  const LaunchConfig& overrides) const {
  const CudaProgram* const known = program_of(first(exclusions), may_load);
  if (!known) return {};
  const std::optional<LaunchConfig> tuned = tuned_choice(ni, nj, exclusions);
  LaunchConfig config = tuned ? *tuned : model_choice(*known, ni, nj);
  if (overrides != LaunchConfig{}) {
    const LaunchConfig chosen = config.compiled();
    for (const LaunchNumber& number : kLaunchNumbers)
      if (overrides.*number.member > 0) config.*number.member = overrides.*number.member;
    // The j-splits were chosen for another compiled configuration.
    if (config.compiled() != chosen) config.j_splits = overrides.j_splits;
    try {
      return open(config, ni, nj, exclusions, may_load);
    } catch (const SourceRejected& e) {
      config.j_splits = overrides.j_splits;
      throw UsageError(fmt::format("pipeline '{}' cannot be compiled with the launch configuration {}: {}",
                                   source.pipeline, describe(config), e.what()));
    }
  }
  if (!tuned) return open(config, ni, nj, exclusions, may_load);
  try {
    return open(config, ni, nj, exclusions, may_load);
  } catch (const SourceRejected&) {
    // The tuning was measured with another compiler, or its file was edited.
  } catch (const DeviceError&) {
  }
  {
    const std::lock_guard lock(mutex_);
    impossible_.insert({source.first().frame, config.compiled(), exclusions});
  }
  return open(model_choice(*known, ni, nj), ni, nj, exclusions, may_load);
}

const CudaProgram* CudaKernel::program_of(const CudaVariant& variant, bool may_load) const {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const CudaProgram>& program = programs_[variant];
  if (!program && may_load) program = loader_->load(source, variant);
  return program.get();
}

std::shared_ptr<const Kernel> CudaKernel::load(const KernelSource& other) const {
  if (number_of_architecture(gpu().architecture()) < other.packed_vectors.least_architecture) return nullptr;
  return std::make_shared<const CudaKernel>(other, loader_);
}

CudaLaunch CudaKernel::open(LaunchConfig config, std::int64_t ni, std::int64_t nj, bool exclusions,
                            bool may_load) const {
  const CudaProgram* const program = program_of({source.first().frame, config.compiled(), exclusions}, may_load);
  if (program && config.j_splits == 0) {
    const LaunchConfig compiled = config.compiled();
    config = choose_launch(source, {&compiled, 1}, program->occupancy(), ni, nj);
  }
  return {program, config.j_splits};
}

// Nothing if there is no tuning, if `nbcc tune` found the model's choice best, or if the tuned kernel cannot be loaded.
std::optional<LaunchConfig> CudaKernel::tuned_choice(std::int64_t ni, std::int64_t nj, bool exclusions) const {
  const std::optional<LaunchConfig> choice = tuned_.find(ni, nj);
  if (!choice || *choice == LaunchConfig{}) return {};
  const std::lock_guard lock(mutex_);
  if (impossible_.contains({source.first().frame, choice->compiled(), exclusions})) return {};
  return choice;
}

LaunchConfig CudaKernel::model_choice(std::int64_t ni, std::int64_t nj) const {
  return model_choice(program(), ni, nj);
}

LaunchConfig CudaKernel::model_choice(const CudaProgram& program, std::int64_t ni, std::int64_t nj) const {
  return choose_launch(source, source.first().launches, program.occupancy(), ni, nj);
}

}  // namespace nbcc
