// A text -> what nbcc says about it without compiling kernels: `nbcc check` prints it, editors show it. Entry point:
// check_pipeline().
#pragma once
#include <string>
#include <vector>

#include "cli/options/kernel_options.h"
#include "compiler/ir/ir.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {

struct TextNames;

// The numbers of operations after optimization, by how often they are executed.
struct OperationCounts {
  int uniform = 0;  // once per run
  int per_i = 0, per_j = 0, per_pair = 0;
  int finish = 0;  // once per i, after its sum
};

struct PipelineCheck {
  Pipeline pipeline;                    // as parsed
  std::vector<Diagnostic> diagnostics;  // warnings and notes
  OperationCounts counts;
  std::string neighbours;  // the proved neighbourhood, "|xj - xi| < rc"; empty if none is proved
  std::string far_field;   // "linear in mj, both sides, O(N)", or why there is none
  std::string wide_pairs;  // of loops over many elements without a far field: "to a tolerance ..."; else empty
  std::vector<std::string> periodic;  // of a periodic sum: what its terms say, by output
  std::string symmetry;  // "acc odd, pot even; a pair costs 0.59 of computing it twice", or why there is none
  std::string search_cost() const;  // of the search for `neighbours`: "O(N)", of the nearest "O(N log N)"
};

// Throws CompileError. `names` (may be null): as of parse().
PipelineCheck check_pipeline(const Source& source, const KernelChoice& kernel, TextNames* names = nullptr);

}  // namespace nbcc
