// Mixed precision across the edge of a periodic box: differences are as exact there as anywhere, on the CPU and in the
// CUDA text, with lengths that no float holds and coordinates that were never wrapped.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_text_run.h"

namespace nbcc::test {
namespace {

constexpr const char* kText =
    "input_i real xi; input_j real xj; param real box = 1.0; output(sum) real d;\n"
    "d += nearest_image(xj - xi, box);";

// One i at 2e-4, one j at `x`, which in a box of 9.7 is a small distance away from it or from one of its images.
OracleInput across_the_edge(double x) { return {.ni = 1, .nj = 1, .i = {{2e-4}}, .j = {{x}}, .params = {9.7}}; }

void expect_exact(double got, double x) {
  const double image = x - 2e-4 - 9.7 * std::round((x - 2e-4) / 9.7);
  // The result is rounded to a float, its lower part before that.
  EXPECT_NEAR(got, image, 0x1p-22 * std::fabs(image) + 0x1p-44 * std::fabs(x)) << "x = " << x;
}

const double kPlaces[] = {9.6999, 9.699999, -1e-4, 19.4001, -29.1001, 3.3, 1e-3, 6.5};

TEST(ImageShiftInMixedPrecision, IsExactOnTheCpu) {
  const Pipeline pipeline = parse({"image.pipe", kText});
  for (const Math math : {Math::Fast, Math::Precise})
    for (const Isa isa : runnable_isas()) {
      const CpuRun run(pipeline, {.precision = Precision::Mixed, .math = math}, isa);
      for (const double x : kPlaces) {
        // Without a fused multiply-add three lengths of 24 bits are rounded.
        if (isa == Isa::Sse2 && std::fabs(x) > 2 * 9.7) continue;
        expect_exact(run(across_the_edge(x))[0][0], x);
      }
    }
}

TEST(ImageShiftInMixedPrecision, IsExactInTheCudaText) {
  const Options options{.precision = Precision::Mixed};
  const KernelSource source = emit_cuda(optimize(parse({"image.pipe", kText}), options, cuda_target()), options);
  CudaShim shim;
  CudaTextRun run(shim, source, {.threads = 8, .i_per_thread = 1, .j_tile = 16, .unroll = 2});
  for (const double x : kPlaces) expect_exact(run(across_the_edge(x), {.records = true})[0][0], x);
}

}  // namespace
}  // namespace nbcc::test
