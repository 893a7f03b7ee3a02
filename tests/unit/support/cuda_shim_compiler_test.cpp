// The shim's compiler: each text once, and refusals that name the line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runtime/error.h"
#include "tests/support/cuda_shim.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;

constexpr char kNothing[] = "extern \"C\" __global__ void nothing() {}\n";

TEST(cuda_shim_compiler, a_text_is_compiled_once) {
  const std::string text = std::string(kNothing) + "// of this test alone\n";
  const int before = shim_compilations();
  const std::string first = make_shim_compiler()->compile(text, "sm_90", {}).image;
  EXPECT_EQ(make_shim_compiler()->compile(text, "sm_90", {}).image, first);
  EXPECT_EQ(shim_compilations(), before + 1);
  make_shim_compiler()->compile(text, "sm_90", {.threads = 64});
  EXPECT_EQ(shim_compilations(), before + 2);
}

TEST(cuda_shim_compiler, a_wrong_text_is_refused_with_the_line) {
  try {
    make_shim_compiler()->compile("\n\nextern \"C\" __global__ void f() { oops; }", "sm_90", {});
    FAIL();
  } catch (const SourceRejected& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("kernel.cu:3:"));
  }
  EXPECT_THROW(make_shim_compiler()->compile(kNothing, "sm_20", {}), DeviceError);
}

}  // namespace
}  // namespace nbcc::test
