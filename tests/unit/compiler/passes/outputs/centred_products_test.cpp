#include "compiler/passes/outputs/centred_products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

Pipeline with_loops(const std::string& statements) {
  return with_element_loops(parse({"text.pipe",
                                   "param real scale[40];\ninput_i real x[40];\ninput_j real w;\ninput_j real y[45];\n"
                                   "output(sum) real s;\n" +
                                       statements}),
                            Math::Fast);
}

constexpr const char* kSquares =
    "real r2 = w;\nfor (int k = 2; k < 40; ++k) r2 += (x[k] - y[k + 1]) * (x[k] - y[k + 1]);\n";

// One pair, whose vectors are multiples of 1/4, so that no operation rounds.
double value_of(const Pipeline& pipeline, double x_of_3) {
  OracleInput input;
  input.ni = input.nj = 1;
  for (int c = 0; c < pipeline.components(Role::InputI); ++c) input.i.push_back({c == 3 ? x_of_3 : c / 4.0});
  for (int c = 0; c < pipeline.components(Role::InputJ); ++c) input.j.push_back({c * c / 4.0});
  for (int c = 0; c < pipeline.components(Role::Param); ++c) input.params.push_back(c % 7);
  return interpret(pipeline, input).values.at(0).at(0);
}

TEST(CentredProducts, HaveTheValueOfTheDifferences) {
  const Pipeline given = with_loops(std::string(kSquares) + "s += r2;\n");
  const auto made = centred_products(given);
  ASSERT_TRUE(made);
  verify(made->pipeline, "the test");
  ASSERT_EQ(made->centres.size(), 1U);
  const Centre& centre = made->centres.front();
  EXPECT_EQ(centre, (Centre{centre.param, "y", "x", 3, 38, 2}));
  ASSERT_EQ(made->pipeline.components(Role::Param), 40 + 38);
  EXPECT_EQ(made->pipeline.field_of(Role::Param, 40).name, centre.param);
  const Pipeline differences = written_out(given);
  EXPECT_EQ(value_of(made->pipeline, 5), value_of(differences, 5));
  EXPECT_EQ(value_of(made->pipeline, INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(value_of(made->pipeline, NAN)));
}

// Three loops, of which two are of one particle.
TEST(CentredProducts, AreLoopsAgain) {
  const auto made = centred_products(with_loops(std::string(kSquares) + "s += exp(-r2);\n"));
  ASSERT_TRUE(made);
  const Pipeline loops = with_element_loops(made->pipeline, Math::Fast);
  int of_pairs = 0, of_particles = 0;
  for (NodeId id = 0; id < loops.pair.size(); ++id)
    if (is_loop(loops.pair[id].op)) ++(loops.pair[id].binding == Binding::Pair ? of_pairs : of_particles);
  EXPECT_EQ(of_pairs, 1);
  EXPECT_EQ(of_particles, 2);
}

TEST(CentredProducts, AreMadeOfSquaresOfPlainDifferencesAlone) {
  const std::string loop = "real r2 = 0;\nfor (int k = 0; k < 40; ++k) r2 += ";
  for (const char* const term : {"x[k] * y[k];\n", "scale[k] * (y[k] - x[k]) * (y[k] - x[k]);\n", "abs(y[k] - x[k]);\n",
                                 "(y[k] - scale[k]) * (y[k] - scale[k]);\n", "(y[k] + x[k]) * (y[k] + x[k]);\n"})
    EXPECT_FALSE(centred_products(with_loops(loop + term + "s += r2;\n"))) << term;
  const std::string table = "param real table[9];\n";
  EXPECT_FALSE(centred_products(with_loops(table + kSquares + "s += r2 * table[int(w)];\n")));
}

}  // namespace
}  // namespace nbcc
