// The beginning of every CUDA source, for all frames: types and functions, the kernel's argument, the structs of
// particles and sums, and the functions from sums to results. Part of emit_cuda.
#pragma once
#include <string>

#include "compiler/emit/cuda/pair/cuda_pair_body.h"
#include "compiler/kernel_source.h"

namespace nbcc {

std::string cuda_title(const Pipeline& pipeline, const Options& options);

// `own`: the default launch configuration of the source. `resident`: an expression for the minimum number of resident
// threads of a multiprocessor. Functions that only some plans need are included for these plans only.
std::string cuda_types(const LaunchConfig& own, const std::string& resident, Precision precision, const Plan& plan);

// Exclusions and their table, for sources that are compiled with and without NBCC_EXCLUSIONS.
std::string cuda_exclusions();

std::string cuda_particles(const Pipeline& pipeline, const Plan& plan, const CudaPairBody& body);

}  // namespace nbcc
