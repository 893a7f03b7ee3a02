#include "jit/clang_compile.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <pthread.h>

namespace nbcc {
namespace {

// Each constant is made of the one before, and a lambda takes the last: Clang follows them to the first.
std::string chain_of_constants(int links) {
  std::string text = "float f(float x) {\n  const float t0 = x;\n";
  for (int k = 1; k <= links; ++k) text += fmt::format("  const float t{0} = t{1} * t{1};\n", k, k - 1);
  return text +
         fmt::format("  const auto g = [&](const float y) {{ return y + t{0}; }};\n  return g(t{0});\n}}\n", links);
}

void* compile_chain(void* ok) {
  const ClangJob job{{{"/t.cpp", chain_of_constants(300)}},
                     "/t.cpp",
                     {"-x", "c++", "-triple", "x86_64-unknown-linux-gnu", "-nostdsysteminc", "-nobuiltininc"}};
  *static_cast<bool*>(ok) = compile_in_memory(job, ClangForm::Object).ok;
  return nullptr;
}

TEST(clang_compile, needs_little_of_the_caller_s_stack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  bool ok = false;
  ASSERT_EQ(pthread_create(&thread, &attributes, compile_chain, &ok), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_TRUE(ok);
}

}  // namespace
}  // namespace nbcc
