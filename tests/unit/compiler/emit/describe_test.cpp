#include "compiler/emit/describe.h"

#include <gtest/gtest.h>

#include "compiler/source/parse.h"

namespace nbcc {
namespace {

TEST(describe, layout_names_the_declared_type) {
  const Pipeline p = parse(
      {"a.pipe",
       "input_i vec3 xi[2]; input_j int kj; output(argmin) index near;\nnear = argmin(near, xi[0].x * real(kj));"});
  EXPECT_EQ(layout_of(p.fields[0]).type, "vec3[2]");
  EXPECT_EQ(layout_of(p.fields[0]).components(), 6);
  EXPECT_EQ(layout_of(p.fields[1]).type, "int");
  EXPECT_TRUE(layout_of(p.fields[1]).integral);
  EXPECT_TRUE(layout_of(p.fields[2]).integral);
}

}  // namespace
}  // namespace nbcc
