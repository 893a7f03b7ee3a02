#include "jit/clang_compile.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"
#include "jit/cpu_jit.h"

namespace nbcc {
namespace {

void* compile(void* source) {
  const KernelSource& kernel = *static_cast<const KernelSource*>(source);
  cpu_object(kernel, kernel.first(), "p");
  return nullptr;
}

// Each constant of this kernel is made of the one before, and Clang follows them to the first.
TEST(clang_compile, needs_little_of_the_caller_s_stack) {
  const Pipeline chain = parse({"chain.pipe",
                                "input_i real x;\ninput_j real y;\noutput(sum) real o;\nreal a = x;\n"
                                "for (int k = 0; k < 300; ++k) a = a * a + y;\no += a;\n"});
  KernelSource source = emit_cpu(optimize(chain, {}, facts(Isa::Avx2).target), {}, Isa::Avx2);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 << 10);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, compile, &source), 0);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
}

}  // namespace
}  // namespace nbcc
