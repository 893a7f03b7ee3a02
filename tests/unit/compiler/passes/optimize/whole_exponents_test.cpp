// Which powers are marked as powers whose exponents the caller sets.
#include "compiler/passes/optimize/whole_exponents.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

int marked_powers(const std::string& exponent, Math math = Math::Fast) {
  const Pipeline pipeline = optimize(
      parse({"one.pipe",
             "input_i int ti; input_i real ni; input_j real xj; input_j int tj; input_j int kj; param real n = 6;\n"
             "param int k = 3; param real t[2][2] = {{1, 2}, {2, 3}}; output(sum) real s; s += pow(xj, " +
                 exponent + ") + 0.0 * (n + k + ni + ti + tj + kj + t[ti][tj]);"}),
      {.math = math}, {});
  int marked = 0;
  for (NodeId id = 0; id < pipeline.pair.size(); ++id)
    marked += pipeline.pair[id].op == Op::Pow && pipeline.pair[id].payload == kMayBeWhole ? 1 : 0;
  return marked;
}

TEST(WholeExponents, AreParamsAndElements) {
  for (const char* const exponent : {"n", "k", "t[ti][tj]", "n - 1", "-t[ti][tj] - 1", "0.5 * t[ti][tj]", "2 * k + n"})
    EXPECT_EQ(marked_powers(exponent), 1) << exponent;
  EXPECT_EQ(marked_powers("n", Math::Precise), 0);
}

TEST(WholeExponents, AreNoNumbersOfParticles) {
  for (const char* const exponent : {"ni", "n + ni", "xj * n", "sqrt(t[ti][tj])", "6.3", "6", "real(kj)"})
    EXPECT_EQ(marked_powers(exponent), 0) << exponent;
}

}  // namespace
}  // namespace nbcc
