// The precision of `run` and `verify`, which is that of the particles, and what their lines say about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "cli/sum/particle_sum.h"
#include "cli/sum/precision_of_particles.h"
#include "particles/files/particle_files.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/command.h"
#include "tests/support/cuda_shim.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using Doubles = std::vector<double>;

// Bodies of a cluster far from the origin, as float64, float32 and text. In single precision their accelerations are
// wrong by 7% rms.
class CommandPrecision : public testing::Test, public Shell {
 protected:
  CommandPrecision() {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    const std::size_t count = 500;
    Doubles x, m(count, 1.0 / double(count));
    for (std::size_t k = 0; k < 3 * count; ++k) x.push_back((k % 3 == 1 ? 4e4 : 7e4) + 0.5 * normal(random));
    ParticleTable table;
    table.rows = std::int64_t(count);
    table.columns = {{"x", 3, x}, {"m", 1, m}};
    for (const char* file : {"far.npz", "far.h5", "far.txt"}) write_particles(path(file), table, {});
    ParticleTable single = table;
    for (ParticleColumn& column : single.columns) column = convert(column, ElementType::Float);
    for (const char* file : {"single.npz", "single.h5"}) write_particles(path(file), single, {});
    single.columns[1] = table.columns[1];
    write_particles(path("one_double.npz"), single, {});
    single.columns[1].data = std::vector<std::int64_t>(count, 1);
    write_particles(path("whole_masses.npz"), single, {});
  }
  // The accelerations and the record of a run with `words`.
  struct Result {
    Doubles acc;
    std::string precision, arithmetic;
  };
  Result run(const std::string& words, const std::string& environment = "") const {
    const Outcome outcome = line(environment + " \"$nbcc\" run $pipelines/gravity.pipe --param eps2=1e-4 --i " + words +
                                 " --force -o out.npz");
    EXPECT_EQ(outcome.code, 0) << words << outcome.err;
    if (outcome.code != 0) return {};
    const ParticleTable table = read_particles(path("out.npz"));
    return {std::get<Doubles>(table.find("acc")->data), *table.find_attribute("precision"),
            *table.find_attribute("arithmetic")};
  }
};

TEST_F(CommandPrecision, FollowsTheParticles) {
  for (const std::string file : {"far.npz", "far.h5", "far.txt", "one_double.npz"}) {
    const Result followed = run(file), chosen = run(file + " --precision double");
    EXPECT_EQ(followed.precision, "double") << file;
    EXPECT_EQ(followed.arithmetic, "double precision (of the particles), fast math") << file;
    EXPECT_EQ(chosen.arithmetic, "double precision, fast math") << file;
    EXPECT_EQ(followed.acc, chosen.acc) << file;
  }
  // Columns of integers do not count.
  for (const std::string file : {"single.npz", "single.h5", "whole_masses.npz"}) {
    const Result followed = run(file);
    EXPECT_EQ(followed.arithmetic, "single precision (of the particles), fast math") << file;
    EXPECT_EQ(followed.acc, run(file + " --precision single").acc) << file;
  }
  // i of one type and j of another, and a column times a number.
  EXPECT_EQ(run("single.npz --j far.npz").precision, "double");
  EXPECT_EQ(run("single.npz --bind mj=0.5*m").precision, "single");
}

TEST_F(CommandPrecision, NoRealColumnIsDouble) {
  write("whole.pipe", "input_i int k; input_j int l; output(sum) real s;\ns += k * l;\n");
  ParticleTable table;
  table.rows = 2;
  table.columns = {{"k", 1, std::vector<std::int64_t>{1, 2}}, {"l", 1, std::vector<std::int64_t>{3, 4}}};
  write_particles(path("whole.npz"), table, {});
  const Outcome outcome = nbcc("run whole.pipe --i whole.npz -o -");
  EXPECT_THAT(outcome.out, HasSubstr("# precision: double\n")) << outcome.err;
}

TEST_F(CommandPrecision, TheEnvironmentGoesBeforeTheParticles) {
  EXPECT_EQ(run("far.npz", "NBCC_PRECISION=single").arithmetic, "single precision (NBCC_PRECISION), fast math");
  EXPECT_EQ(run("single.npz", "NBCC_PRECISION=mixed").precision, "mixed");
  EXPECT_EQ(run("single.npz", "NBCC_PRECISION=").precision, "single");
  EXPECT_EQ(run("far.npz --precision mixed", "NBCC_PRECISION=single").precision, "mixed");
  const Outcome wrong = line("NBCC_PRECISION=half \"$nbcc\" run $pipelines/gravity.pipe --i far.npz -o -");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err,
              HasSubstr("NBCC_PRECISION (of the environment): expected single, mixed or double, got 'half'"));
}

TEST_F(CommandPrecision, ThePlanSaysIt) {
  const Outcome plan = nbcc("run $pipelines/gravity.pipe --i far.npz --plan");
  EXPECT_THAT(plan.out, HasSubstr("arithmetic: double precision (of the particles), fast math\n")) << plan.err;
}

TEST_F(CommandPrecision, BenchKeepsSingleAndSaysSo) {
  const std::string bench = "bench $pipelines/gravity.pipe --n 64 --threads 1";
  EXPECT_THAT(nbcc(bench).out, HasSubstr("single precision (the default of bench), fast math"));
  EXPECT_THAT(nbcc(bench + " --precision single").out, HasSubstr("single precision, fast math"));
  EXPECT_THAT(line("NBCC_PRECISION=double \"$nbcc\" " + bench).out,
              HasSubstr("double precision (NBCC_PRECISION), fast math"));
}

TEST_F(CommandPrecision, VerifyFollowsTheParticles) {
  const std::string verify = "verify $pipelines/gravity.pipe --param eps2=1e-4";
  for (const std::string words : {" --i far.npz", " --i far.txt", " --random 100"}) {
    const Outcome outcome = nbcc(verify + words);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("double precision (of the particles), fast math")) << words;
  }
  EXPECT_THAT(nbcc(verify + " --i single.npz").out, HasSubstr("single precision (of the particles)"));
}

TEST_F(CommandPrecision, AGpuThatIsSlowInDoubleIsNamed) {
  write("g.pipe", "input_i real x; input_j real y; output(sum) real s;\ns += x * y;\n");
  const auto note = [&](bool slow, Precision precision, bool chosen) {
    CudaShim shim;
    if (slow) shim.set_device(CudaShim::small_device());
    const auto gpu = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
    KernelChoice choice;
    choice.options.precision = precision;
    choice.precision_is_chosen = chosen;
    return note_of_slow_double(ParticleSum(path("g.pipe"), choice, {}, gpu), choice);
  };
  EXPECT_THAT(note(true, Precision::Double, false),
              testing::AllOf(HasSubstr("in which cuda:0, Small shim GPU, sm_75 has less than a quarter of its rate in "
                                       "single precision"),
                             HasSubstr("--precision mixed keeps the differences of float64 positions")));
  EXPECT_EQ(note(false, Precision::Double, false), "");
  EXPECT_EQ(note(true, Precision::Single, false), "");
  EXPECT_EQ(note(true, Precision::Double, true), "");
}

// A bound of the size of the terms is kept by any sum.
TEST_F(CommandPrecision, VerifyFailsWhereItsBoundSaysNothing) {
  const std::string verify = "verify $pipelines/gravity.pipe --param eps2=1e-4 --i far.npz --precision single";
  const Outcome single = nbcc(verify);
  EXPECT_EQ(single.code, 1);
  EXPECT_THAT(single.out, HasSubstr("TOO COARSE"));
  EXPECT_THAT(single.err, HasSubstr("in single precision the roundings of inputs and terms may change these outputs by "
                                    "more than 0.001 of the sum of |term|"));
  EXPECT_THAT(single.err, HasSubstr("'acc' ("));
  EXPECT_THAT(single.err, HasSubstr("--precision mixed would do\n"));
  const nlohmann::json report = nlohmann::json::parse(nbcc(verify + " --json").out);
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["outputs"][0]["too_coarse"], true);
  EXPECT_EQ(report["outputs"][0]["wrong"], 0);
  EXPECT_EQ(nbcc("verify $pipelines/gravity.pipe --param eps2=1e-4 --i far.npz --precision mixed").code, 0);
}

TEST_F(CommandPrecision, VerifyNamesTheFirstPrecisionThatWouldDo) {
  write("wave.pipe", "input_i real xi; input_j real xj; output(sum) real s;\ns += sin(1e7 * xi * xj);\n");
  const Outcome wave = nbcc("verify wave.pipe --random 100 --precision single");
  EXPECT_EQ(wave.code, 1) << wave.out;
  EXPECT_THAT(wave.err, HasSubstr("--precision double would do\n"));
  write("lost.pipe", "input_i real xi; input_j real xj; output(sum) real s;\ns += (1.0e18 + xi * xj) - 1.0e18;\n");
  const Outcome lost = nbcc("verify lost.pipe --random 100 --math precise");
  EXPECT_EQ(lost.code, 1) << lost.out;
  EXPECT_THAT(lost.err, HasSubstr("no precision would do\n"));
  write("steep.pipe",
        "input_i real xi; input_j real xj; output(sum) real s;\nreal r = rsqrt(clamp(xi + xj, 0.5, 2.0));\n"
        "real r2 = r * r, r4 = r2 * r2, r8 = r4 * r4; s += r8 * r8 * r8 * r8 * r;\n");
  const Outcome steep = nbcc("verify steep.pipe --random 100 --precision single --root estimate");
  EXPECT_EQ(steep.code, 1) << steep.out;
  EXPECT_THAT(steep.err, HasSubstr("--root refined would do\n"));
}

}  // namespace
}  // namespace nbcc::test
