// Runs the passes. Entry point: optimize(). Each pass is described in its header; this file has only their order, with
// reasons.
#include "compiler/passes/optimize/optimize.h"

#include <algorithm>

#include "compiler/ir/limits.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/optimize/coincident.h"
#include "compiler/passes/optimize/shared_powers.h"
#include "compiler/passes/optimize/type_terms.h"
#include "compiler/passes/optimize/whole_exponents.h"
#include "compiler/passes/passes.h"
#include "compiler/text/own_stack.h"

namespace nbcc {

namespace {

bool is_too_large(const Graph& graph, const std::vector<NodeId>& roots) {
  if (graph.size() <= kMaxNodes) return false;
  const std::vector<bool> needed = reachable(graph, roots);
  return std::ranges::count(needed, true) > kMaxNodes;
}

void run_passes(Pipeline& pipeline, const Options& options, const Target& target) {
  const auto run = [&](const char* name, auto pass) {
    pass(pipeline);
    if (is_too_large(pipeline.pair, pipeline.roots()) || is_too_large(pipeline.finish, pipeline.finished))
      throw TooManyNodes(kMaxNodes, pipeline.name);
    verify(pipeline, name);
  };
  run("fold", fold);
  run("cse", cse);
  if (options.math == Math::Fast) {
    run("type_terms", type_terms);
    run("shared_powers", share_powers);
    // Powers before sums: refining a root makes products that sums then fuse. Factors leave the sums before the terms
    // are fused, because `hoist` does not see a factor inside an Fma.
    if (target.fast_exp2) run("binary_exponents", [&](Pipeline& p) { binary_exponents(p, options); });
    run("rsqrt", [&](Pipeline& p) { rsqrt(p, options, target); });
    run("hoist", hoist);
    run("fold", fold);
    // Runs before r2 becomes part of a longer sum.
    if (target.predicated) run("test_differences", test_differences);
    if (target.fused) run("contract", contract);
    run("cse", cse);
    run("whole_exponents", whole_exponents);
  }
}

}  // namespace

Pipeline optimize(Pipeline pipeline, const Options& options, const Target& target) {
  // Passes recurse along chains of operations.
  run_on_own_stack(kDeepStack, [&] { run_passes(pipeline, options, target); });
  return pipeline;
}

}  // namespace nbcc
