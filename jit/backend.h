// The table of backends: how a pipeline is compiled for one family of devices. The runtime has a table of the same
// backends without the compiler (DeviceKind in runtime/api/open_device.h).
// How to add a backend: CONTRIBUTING.md. Tested by tests/unit/jit/backend_test.cpp.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/ir.h"
#include "compiler/isa.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/passes/prove/table_indices.h"
#include "compiler/target.h"
#include "runtime/sum/plan/device.h"

namespace nbcc {

// A stage of a kernel that `nbcc emit` prints.
struct KernelStage {
  std::string_view name;
  std::string (*text)(const KernelSource& kernel);  // throws UsageError if the kernel has no such stage
};

struct Backend {
  std::string_view name;         // KernelDevice::backend()
  std::string_view file_ending;  // extension of sources in a dump folder
  bool tests_cutoff;             // its kernels have nbcc_within, which needs the cutoff's condition as a node
  bool checks_symmetric;         // its kernels with reactions check table indices; else the kernel of both ends does
  bool stores_pair_values;       // its kernels store results of pairs; else a second kernel computes them
  bool has_matrix_units;         // Options::matrix_units makes other kernels
  Target (*target)(Isa isa);     // the target for which the passes optimise
  KernelSource (*emit)(const Pipeline& optimized, const Options& options, Isa isa, const Neighbourhood* neighbourhood,
                       const TableIndices& indices);
  void (*provide_compiler)(KernelDevice& device);  // gives a device that the runtime has opened its compiler
  std::span<const KernelStage> stages;
};

std::span<const Backend> backends();
// Throws UsageError if there is no compiler for this kind of device.
const Backend& backend_named(std::string_view name);

}  // namespace nbcc
