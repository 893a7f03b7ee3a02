// Guards that exclude pairs of equal indices are found in every form, and nothing else is taken for one.
#include "compiler/passes/facts/equal_indices.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/source/parse.h"

namespace nbcc {
namespace {

IndexGuard index_guard_of(const std::string& statements) {
  const std::string fields =
      "input_i vec3 xi; input_j vec3 xj; input_j real mj; param bool apart = true; output(sum) real o; output(count) "
      "int n;\n"
      "vec3 dx = xj - xi; real r2 = dot(dx, dx);\n";
  return index_guard(parse(Source{"guard.pipe", fields + statements}));
}

TEST(EqualIndices, AreFoundInEveryFormOfAGuard) {
  for (const char* const text : {
           "skip_if(i_index == j_index); o += r2; n += r2 < 1.0;",
           "skip_if(j_index == i_index || r2 > 1.0); o += r2; n += r2 < 1.0;",
           "if (i_index != j_index) { o += r2; n += r2 < 1.0; }",
           "if (r2 < 1.0 && !(i_index == j_index)) { o += r2; n += true; }",
           "if (i_index == j_index) { } else { o += r2; n += true; }",
           "bool own = i_index == j_index; skip_if(own); o += r2; n += true;",
           "skip_if(self_pair); o += r2; n += true;",
           "skip_if(i_index == j_index); o += r2;",
       })
    EXPECT_EQ(index_guard_of(text), IndexGuard::Equal) << text;
  for (const char* const text :
       {"skip_if(j_index <= i_index); o += r2; n += true;", "if (i_index < j_index) { o += r2; n += true; }",
        "skip_if(i_index == j_index || j_index > i_index); o += r2; n += true;"})
    EXPECT_EQ(index_guard_of(text), IndexGuard::Order) << text;
}

TEST(EqualIndices, AreNotFoundWhereSuchPairsContribute) {
  for (const char* const text : {
           "o += r2; n += true;",
           "skip_if(r2 == 0.0); o += r2; n += true;",
           "skip_if(i_index == j_index && apart); o += r2; n += true;",
           "if (i_index == j_index) { o += r2; n += true; }",
           "if (i_index != j_index) o += r2; n += true;",
           "skip_if(i_index == j_index + 1); o += r2; n += true;",
           "o += i_index == j_index ? 0.0 : r2; n += true;",
       })
    EXPECT_EQ(index_guard_of(text), IndexGuard::None) << text;
}

}  // namespace
}  // namespace nbcc
