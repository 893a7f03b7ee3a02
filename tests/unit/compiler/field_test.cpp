#include "compiler/field.h"

#include <gtest/gtest.h>

#include "compiler/source/parse.h"

namespace nbcc {
namespace {

TEST(field, type_is_the_declared_one) {
  const Pipeline p = parse({"a.pipe", R"(input_i vec3 xi[2];
input_j int kj;
param complex z;
param real rows[3][600];
param real few[2][3];
output(argmin) index near;
output(total) double e;
output(total) index counts[40];
output(sum) real profile[50];
near = argmin(near, xi[0].x * real(kj));
e += rows[kj][1] + few[1][2];
counts[kj] += 1;
counts[kj + 1] += 1;
profile[kj] += real(z);
)"});
  const auto type = [&](const char* name) { return type_name(*p.find(name)); };
  EXPECT_EQ(type("xi"), "vec3[2]");
  EXPECT_EQ(type("kj"), "int");
  EXPECT_EQ(type("z"), "complex");
  EXPECT_EQ(type("rows"), "real[3][600]");
  EXPECT_EQ(type("few"), "real[2][3]");
  EXPECT_EQ(type("counts"), "index[40]");
  EXPECT_EQ(p.find("xi")->components(), 6);
  EXPECT_EQ(p.find("counts")->numbers(), 40);
  EXPECT_EQ(p.find("counts")->components(), 2) << "one for each statement";
  EXPECT_TRUE(p.find("kj")->integral());
  EXPECT_TRUE(p.find("near")->integral());
  EXPECT_FALSE(p.find("z")->integral());
}

TEST(field, kind_says_what_has_a_row) {
  const Pipeline p = parse({"a.pipe", R"(input_i real xi;
input_j int kj;
input_pair real wp;
param real few[2];
param real table[9];
output(sum) real s;
output(pair) real v;
output(total) real e;
output(total) real bins[9];
output(sum) real own[9];
s += xi * wp * few[1];
v = wp;
e += table[kj];
bins[kj] += wp;
own[kj] += wp;
)"});
  const auto kind = [&](const char* name) { return p.find(name)->kind; };
  EXPECT_EQ(kind("xi"), FieldKind::Particle);
  EXPECT_EQ(kind("wp"), FieldKind::Pair);
  EXPECT_EQ(kind("few"), FieldKind::Param);
  EXPECT_EQ(kind("table"), FieldKind::Table);
  EXPECT_EQ(kind("s"), FieldKind::Particle);
  EXPECT_EQ(kind("v"), FieldKind::Pair);
  EXPECT_EQ(kind("e"), FieldKind::Total);
  EXPECT_EQ(kind("bins"), FieldKind::Histogram);
  EXPECT_EQ(kind("own"), FieldKind::HistogramOfI);
  EXPECT_TRUE(p.find("v")->is_pair_result());
  EXPECT_FALSE(p.find("wp")->is_pair_result());
}

}  // namespace
}  // namespace nbcc
