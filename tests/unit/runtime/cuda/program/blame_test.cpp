#include "runtime/cuda/program/blame.h"

#include <gtest/gtest.h>

namespace nbcc {
namespace {

const KernelSource kernel = [] {
  KernelSource made;
  made.pipeline = "gravity";
  made.variants.resize(1);
  made.first().source = "// a title\n  const float t2 = t0 - t1;\n  sum = 0;\n  const float t3 = t2 * t2;\n";
  made.lines = {3, 4, 7, 0};
  return made;
}();

TEST(Blame, NamesTheLineOfTheValueThatIsDefined) {
  EXPECT_EQ(
      blame(kernel, kernel.first().source, "gravity.cu(2): error: no such thing\n      const float t2 = t0 - t1;\n"),
      "line 2 of the kernel source is: const float t2 = t0 - t1;\n  from line 7 of pipeline 'gravity'\n");
}

TEST(Blame, SaysOnlyWhatItKnows) {
  EXPECT_EQ(blame(kernel, kernel.first().source, "gravity.cu(3): error: what is sum\n"),
            "line 3 of the kernel source is: sum = 0;\n");
  EXPECT_EQ(blame(kernel, kernel.first().source, "gravity.cu(4): catastrophic error: folded\n"),
            "line 4 of the kernel source is: const float t3 = t2 * t2;\n");
  EXPECT_EQ(blame(kernel, kernel.first().source, "gravity.cu(40): error: beyond the end\n"), "");
  EXPECT_EQ(blame(kernel, kernel.first().source, "gravity.cu(2): warning: never mind\n"), "");
  EXPECT_EQ(blame(kernel, kernel.first().source, ""), "");
}

TEST(Blame, SaysEachLineOnce) {
  const std::string log = "gravity.cu(2): error: one\ngravity.cu(2): error: two\ngravity.cu(3): error: three\n";
  EXPECT_EQ(blame(kernel, kernel.first().source, log),
            "line 2 of the kernel source is: const float t2 = t0 - t1;\n  from line 7 of pipeline 'gravity'\n"
            "line 3 of the kernel source is: sum = 0;\n");
}

}  // namespace
}  // namespace nbcc
