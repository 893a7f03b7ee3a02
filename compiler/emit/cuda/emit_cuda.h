// Pipeline -> KernelSource for NVIDIA GPUs: CUDA source for NVRTC, for architectures from sm_75 on, compiled with
// --fmad=false and without headers. The head of each source (templates/cuda/) describes its kernels and their grids.
#pragma once
#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/passes/prove/table_indices.h"
#include "compiler/target.h"

namespace nbcc {

Target cuda_target();

// `pipeline`: the result of optimize() for cuda_target() and the same options. KernelSource::target is "cuda", to which
// the device adds its architecture. With a neighbourhood there is a variant that searches neighbours, and with
// TableIndices a variant that checks them.
KernelSource emit_cuda(const Pipeline& pipeline, const Options& options, const Neighbourhood* neighbourhood = nullptr,
                       const TableIndices& indices = {});

}  // namespace nbcc
