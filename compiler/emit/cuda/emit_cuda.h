// Pipeline -> KernelSource for NVIDIA's GPUs: CUDA text for NVRTC, any architecture from sm_75 on, compiled with
// --fmad=false and no header. What the text exports and how its kernels are launched is said at its head.
#pragma once
#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"
#include "compiler/passes/neighbourhood.h"
#include "compiler/passes/table_indices.h"
#include "compiler/target.h"

namespace nbcc {

Target cuda_target();

// `pipeline` is what optimize() made for cuda_target() and the same options. In the result `target` is "cuda", to which
// the device adds its architecture. With a neighbourhood there is a variant that searches, and with TableIndices one
// that checks them.
KernelSource emit_cuda(const Pipeline& pipeline, const Options& options, const Neighbourhood* neighbourhood = nullptr,
                       const TableIndices& indices = {});

}  // namespace nbcc
