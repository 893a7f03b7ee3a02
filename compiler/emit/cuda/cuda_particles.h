// What every CUDA text begins with, whatever its frame: types and functions, the argument, the structs of particles and
// sums, and the way from sums to results. Part of emit_cuda.
#pragma once
#include <string>

#include "compiler/emit/cuda/cuda_pair_body.h"
#include "compiler/kernel_source.h"

namespace nbcc {

std::string cuda_title(const Pipeline& pipeline, const Options& options);

// `own` is the text's own launch configuration, `resident` an expression for the threads that a multiprocessor is to
// have registers for. What only some plans need stands in their texts alone.
std::string cuda_types(const LaunchConfig& own, const std::string& resident, Precision precision, const Plan& plan);

std::string cuda_particles(const Pipeline& pipeline, const Plan& plan, const CudaPairBody& body);

}  // namespace nbcc
