#include "compiler/passes/facts/image_shift.h"

#include <gtest/gtest.h>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

int shifts_in(const std::string& statements, const Options& options, Isa isa) {
  const Pipeline p = optimize(parse({"case.pipe",
                                     "input_i vec3 xi; input_j vec3 xj; param vec3 box = vec3(10.0, 10.0, 10.0); "
                                     "param real half = 5.0; output(sum) vec3 s;\n" +
                                         statements}),
                              options, facts(isa).target);
  int count = 0;
  for (NodeId id = 0; id < p.pair.size(); ++id) count += image_shift(p.pair, id).has_value();
  return count;
}

// Under both policies and with and without fused operations, which write the shift differently.
void expect_shifts(const std::string& statements, int expected) {
  for (const Math math : {Math::Fast, Math::Precise})
    for (const Isa isa : {Isa::Sse2, Isa::Avx2})
      EXPECT_EQ(shifts_in(statements, {.precision = Precision::Mixed, .math = math}, isa), expected) << statements;
}

TEST(ImageShift, OfEachComponent) { expect_shifts("s += nearest_image(xj - xi, box);", 3); }
TEST(ImageShift, ByOneLength) { expect_shifts("s += nearest_image(xj - xi, 10.0);", 3); }
TEST(ImageShift, ByALengthThatIsComputed) { expect_shifts("s += nearest_image(xj - xi, 2.0 * half);", 3); }
TEST(ImageShift, WrittenOut) { expect_shifts("vec3 d = xj - xi; d.x = d.x - box.x * round(d.x / box.x); s += d;", 1); }
TEST(ImageShift, NotOfAnotherDifference) { expect_shifts("s += nearest_image(2.0 * xj - xi, box);", 0); }
TEST(ImageShift, NotByWhatIsNotWhole) { expect_shifts("vec3 d = xj - xi; d.x = d.x - box.x * d.y; s += d;", 0); }

}  // namespace
}  // namespace nbcc
