// Runs the passes. One door: optimize(). What each does is said in its own header; here is only the order, and why.
#include "compiler/optimize.h"

#include "compiler/contract.h"
#include "compiler/cse.h"
#include "compiler/dce.h"
#include "compiler/fold.h"
#include "compiler/hoist.h"
#include "compiler/rsqrt.h"
#include "compiler/same_place.h"
#include "compiler/verify.h"

namespace nbcc {

Pipeline optimize(Pipeline pipeline, const Options& options, const Target& target) {
  const auto run = [&](const char* name, auto pass) {
    pass(pipeline);
    verify(pipeline, name);
  };
  run("fold", fold);
  run("cse", cse);
  run("dce", dce);
  if (options.math == Math::Fast) {
    // Powers before sums: a refined root brings products that the sums then fuse. Factors leave the sums before the
    // terms are fused, since a factor inside an Fma is no longer seen.
    run("rsqrt", [&](Pipeline& p) { rsqrt(p, options, target); });
    run("hoist", hoist);
    run("fold", fold);
    // Before r2 is part of a longer sum.
    if (target.predicated) run("same_place", same_place);
    if (target.fused) run("contract", contract);
    run("cse", cse);
    run("dce", dce);
  }
  return pipeline;
}

}  // namespace nbcc
