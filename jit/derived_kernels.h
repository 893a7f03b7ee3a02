// A pipeline -> the kernels that are derived from it, when a run first needs them.
#pragma once
#include <memory>
#include <string>

#include "compiler/derived_kernels.h"
#include "compiler/ir/ir.h"
#include "jit/backend.h"

namespace nbcc {

// What the kernels of a row are made of.
struct DerivationInput {
  // Compiles a pipeline; build_kernel() of build_kernel.h.
  KernelSource (*build)(const Backend& backend, const Pipeline& pipeline, const Options& options, Isa isa);
  const Backend& backend;
  Pipeline pipeline;  // as parsed, without totals
  Options options;
  Precision given;  // of the pipeline's own kernel; that of `options` may be higher
  Isa isa;
  bool has_tiles;              // its kernel computes loops over elements for tiles of pairs
  std::string_view only = {};  // the one row that there is; "": all rows of the table
  std::string others = {};     // why there are no others
};

// A row of the table in derived_kernels.cpp.
struct Derivation {
  std::string_view name;
  bool is_of_precision;  // makes other kernels for a higher precision
  DerivedKernels (*make)(const DerivationInput& input);
};

std::shared_ptr<const Derivations> derivations_of(DerivationInput input);
// There are no derived kernels, for this reason.
std::shared_ptr<const Derivations> no_derivations(std::string obstacle);

}  // namespace nbcc
