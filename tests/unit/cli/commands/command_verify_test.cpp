// `nbcc verify`: right kernels pass, wrong sums do not, and what it says about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/command.h"

namespace nbcc::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(CommandVerify, PassesOnTheLibraryInEveryPrecision) {
  const Shell shell;
  // sph_density has a finish(), lennard_jones high powers and a cutoff, nearest_neighbour an argmin.
  for (const char* name : {"gravity", "sph_density", "lennard_jones", "nearest_neighbour", "cunbody_hermite"}) {
    for (const char* precision : {"single", "mixed", "double"}) {
      const Outcome outcome =
          shell.nbcc(std::string("verify $pipelines/") + name + ".pipe --random 300,5 --precision " + precision);
      EXPECT_EQ(outcome.code, 0) << name << " " << precision << "\n" << outcome.out << outcome.err;
    }
  }
}

// Lists, exclusions, batches, results of pairs and far fields, against the same oracle; and that a wrong choice of
// pairs would be seen: the sums differ.
TEST(CommandVerify, ComparesSumsOverChosenPairs) {
  const Shell shell;
  shell.write("pairs.pipe",
              "input_i vec3 xi; input_j vec3 xj; input_j real mj; input_pair real k; input_pair int t;\n"
              "output(sum) vec3 f; output(pair) vec3 way; output(pair) int who; output(total) real e;\n"
              "vec3 d = xj - xi; f += k * mj * d; way = mj * k * d; who = t + int(j_index) - int(i_index);\n"
              "e += k * dot(d, d);\n");
  const auto total = [&](const std::string& options) -> double {
    const Outcome outcome = shell.nbcc("verify " + options + " --json");
    EXPECT_EQ(outcome.code, 0) << options << "\n" << outcome.out << outcome.err;
    const json report = json::parse(outcome.out);
    double number = 0;
    for (const json& output : report["outputs"]) number += output.value("total", 0.0);
    return number;
  };
  EXPECT_EQ(total("pairs.pipe --random 200"), total("pairs.pipe --random 200 --listed 16"));
  total("pairs.pipe --random 500 --listed 5 --precision single");
  shell.write("count.pipe",
              "input_i vec3 xi; input_j vec3 xj; output(count) int n; output(sum) real s;\n"
              "vec3 d = xj - xi; n += dot(d, d) < 9.0; s += dot(d, d);\n");
  const double all = total("count.pipe --random 240"), excluded = total("count.pipe --random 240 --excluded 9"),
               batches = total("count.pipe --random 240 --batches 7"),
               listed = total("count.pipe --random 240 --listed 30");
  EXPECT_LT(excluded, all);
  EXPECT_LT(batches, all / 3);
  EXPECT_LT(listed, all / 3);
  EXPECT_THAT(shell.nbcc("verify count.pipe --listed 3 --batches 2").err, HasSubstr("excludes"));
}

TEST(CommandVerify, ComparesFarFieldsWithTheirTolerance) {
  const Outcome outcome = Shell().nbcc("verify $pipelines/gravity.pipe --random 20000 --tolerance 1e-4 --json");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const json report = json::parse(outcome.out);
  ASSERT_EQ(report["outputs"].size(), 2u);
  for (const json& output : report["outputs"]) {
    EXPECT_GT(output["rms_error"], 1e-9);  // of the grids, not of roundings
    EXPECT_LT(output["rms_error"], 2e-4);
    EXPECT_NEAR(output["bound"], 2e-4, 1e-6);
  }
}

TEST(CommandVerify, ReportsErrorsAndBoundsOfEachOutput) {
  const Outcome outcome = Shell().nbcc("verify $pipelines/gravity.pipe --random 1000 --precision single --json");
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["compared"], 256);
  EXPECT_EQ(report["ok"], true);
  ASSERT_EQ(report["outputs"].size(), 2u);
  for (const json& output : report["outputs"]) {
    EXPECT_GT(output["rms_error"], 0.0);
    EXPECT_GE(output["max_error"], output["rms_error"]);
    EXPECT_LT(output["max_error"], output["bound"]);
    // A bound that a broken kernel could meet would be none.
    EXPECT_LT(output["bound"], 1e-4);
  }
}

TEST(CommandVerify, ComparesParticlesFromFiles) {
  const Shell shell;
  ASSERT_EQ(shell.nbcc("make-ic plummer --n 400 -o plummer.npz").code, 0);
  const Outcome outcome =
      shell.nbcc("verify $pipelines/gravity.pipe --i plummer.npz --param eps2=0.01 --precision mixed");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("256 of the i compared"));
}

TEST(CommandVerify, SaysNothingIsWrongWhereNothingIs) {
  const Shell shell;
  const std::string fields = "input_i real xi;\ninput_j real xj;\n";
  const char* const bodies[] = {
      "output(min) int o;\noutput(max) index p;\nif (xj > 5.0) { o = min(o, 1); p = max(p, 1); }",
      "output(min) real o;\nreal y = xj - xi;\no = min(o, max(y * y, 0.01));",
      "output(sum) float o;\no += float(xj) * float(xi);",
      "output(sum) real o;\nif (xj <= xi) o += 0.1;",
      "output(sum) real o;\nreal r = xj * 3.0 / 3.0;\nreal a = r < xj ? 4.0 : 0.0, b = r < xj ? 5.0 : 0.0;\no += a * "
      "b;",
      "output(product) float p;\noutput(sum) float s;\noutput(softmax) float w;\noutput(logsumexp) float z;\n"
      "p *= 1.001; s += 0.1; w = softmax(w, xj, xi * 0.1); z = logsumexp(z, 0.1);",
      // Beyond 2^53 rounding decides.
      "output(product) int p;\noutput(product) index q;\noutput(sum) index s;\np *= 1000; q *= 3; s += "
      "9000000000000001;",
  };
  for (const char* body : bodies) {
    shell.write("right.pipe", fields + body + "\n");
    for (const char* precision : {"single", "double"}) {
      const Outcome outcome = shell.nbcc(std::string("verify right.pipe --random 3000 --precision ") + precision);
      EXPECT_EQ(outcome.code, 0) << body << "\n" << precision << "\n" << outcome.out << outcome.err;
    }
  }
}

// A sum beyond the range of single precision is wrong there and right in double precision.
TEST(CommandVerify, FindsIntegersThatWrapAround) {
  const Shell shell;
  shell.write("ints.pipe", "input_i int ki;\ninput_j int kj;\noutput(sum) index o;\no += ki * kj;\n");
  const Outcome checked = shell.nbcc("check ints.pipe");
  EXPECT_EQ(checked.code, 0);
  EXPECT_THAT(checked.err, HasSubstr("ints.pipe:4:9: note: ki * kj wraps around beyond 2147483647"));
  EXPECT_EQ(shell.nbcc("verify ints.pipe --random 100").code, 0);
  shell.write("ids.txt", "# k\n1\n70000\n30000\n");
  const Outcome outcome = shell.nbcc("verify ints.pipe --i ids.txt");
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("line 4: ki * kj wraps around: 70000 of i = 1 and 70000 of j = 1 give 4900000000"));
}

TEST(CommandVerify, FailsWhereSinglePrecisionOverflows) {
  const Shell shell;
  shell.write("huge.pipe",
              "input_i real xi;\ninput_j real xj;\noutput(sum) real s;\n"
              "real d = xj - xi + 2.0e4;\nreal d2 = d * d;\nreal d4 = d2 * d2;\nreal d8 = d4 * d4;\ns += d8 * d2;\n");
  const Outcome single = shell.nbcc("verify huge.pipe --random 50 --precision single");
  EXPECT_EQ(single.code, 1);
  EXPECT_THAT(single.out, HasSubstr("WRONG"));
  EXPECT_EQ(shell.nbcc("verify huge.pipe --random 50 --precision double").code, 0);
}

}  // namespace
}  // namespace nbcc::test
