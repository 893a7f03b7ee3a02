// The backends: how a pipeline becomes a kernel of one family of devices, one row each. What the runtime knows of the
// same backend is in its own rows, since it knows no compiler (DeviceKind in runtime/api/open_device.h).
// How to add one: CONTRIBUTING.md. Tested by tests/unit/backend_test.cpp.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/ir.h"
#include "compiler/isa.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"
#include "compiler/passes/neighbourhood.h"
#include "compiler/passes/table_indices.h"
#include "compiler/target.h"
#include "runtime/sum/device.h"

namespace nbcc {

// A text that `nbcc emit` shows of a kernel.
struct KernelStage {
  std::string_view name;
  std::string (*text)(const KernelSource& kernel);  // throws UsageError where the kernel has none
};

struct Backend {
  std::string_view name;         // KernelDevice::backend()
  std::string_view file_ending;  // of sources in a dump folder
  bool tests_cutoff;             // its kernels have nbcc_within, which needs the cutoff's condition as a node
  Target (*target)(Isa isa);     // what the passes optimise for
  KernelSource (*emit)(const Pipeline& optimized, const Options& options, Isa isa, const Neighbourhood* neighbourhood,
                       const TableIndices& indices);
  void (*provide_compiler)(KernelDevice& device);  // to a device that the runtime has opened without
  std::span<const KernelStage> stages;
};

std::span<const Backend> backends();
// Throws UsageError for a device that no pipeline can be compiled for.
const Backend& backend_named(std::string_view name);

}  // namespace nbcc
