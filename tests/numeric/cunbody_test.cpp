// The dialect of numbered fields: the two interactions of CUNBODY-1 against a pair worked out by hand, and the original
// listings against ours.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/experiment.h"
#include "tests/support/folders.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/reference_data.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

// j stands 3 along x and 4 along y of i: r = 5 without softening.
TEST(Cunbody, GravityOfAPair) {
  Particles p{.ni = 1, .nj = 1, .fields = {{"INPUT_I", {1, 1, 1, 0}}, {"INPUT_J", {4, 5, 1, 250}}}};
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    expect_within(sum("cunbody_gravity", p, {.precision = precision}).at("OUTPUT"), {6, 8, 0},
                  8 * kRoundings * epsilon(precision), "acc");
  }
}

TEST(Cunbody, HermiteOfAPair) {
  const double eps2 = 1. / 65536, r2 = 25 + eps2, r = std::sqrt(r2), m = 250;
  Particles p{.ni = 1, .nj = 1};
  p.fields = {{"INPUT_I", {1, 1, 1, 0.5, 0, 0}}, {"INPUT_J", {4, 5, 1, 1.5, 0, 2, m}}};
  // dx = (3, 4, 0), dv = (1, 0, 2), dx . dv = 3.
  const double f = m / (r2 * r), t = 9 / r2;
  const std::vector<double> expected{3 * f, 4 * f, 0, f * (1 - 3 * t), -4 * t * f, 2 * f, -m / r};
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    expect_within(sum("cunbody_hermite", p, {.precision = precision}).at("OUTPUT"), expected,
                  m / r * kRoundings * epsilon(precision), "output");
  }
}

TEST(Cunbody, AParticleActsOnItsOwnPotentialOnly) {
  const Particles p{
      .ni = 1, .nj = 1, .fields = {{"INPUT_I", {1, 2, 3, 4, 5, 6}}, {"INPUT_J", {1, 2, 3, 4, 5, 6, 0.5}}}};
  expect_within(sum("cunbody_hermite", p).at("OUTPUT"), {0, 0, 0, 0, 0, 0, -128}, 1e-12, "output");
}

// INPUT_I and INPUT_J that are one array are one set, of which each pair may be computed once. In the second listing a
// row of i has one number less.
TEST(Cunbody, OneArrayIsOneSet) {
  const Isa isa = detect_isa();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  for (const auto& [name, width] : {std::pair{"gravity", 4}, {"hermite", 7}}) {
    const Pipeline pipeline = parse(read_source(fmt::format("{}/pipelines/cunbody_{}.pipe", source_folder(), name)));
    const auto kernel = device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, ""));
    std::vector<double> rows;
    for (int k = 0; k < 100 * width; ++k) rows.push_back(double(k * 37 % 101) / 64 + 0.5);
    const auto run = [&](SymmetricChoice choice, std::vector<double> of_j, std::string_view method) {
      std::vector<double> out(std::size_t(100 * pipeline.components(Role::Output)));
      SumState sum(kernel);
      sum.bind("INPUT_I", {rows.data(), Element::Double, 100, 8 * width, 8});
      sum.bind("INPUT_J", {of_j.empty() ? rows.data() : of_j.data(), Element::Double, 100, 8 * width, 8});
      sum.bind("OUTPUT", {out.data(), Element::Double, 100, std::int64_t(out.size()) / 100 * 8, 8});
      sum.set_symmetric(choice);
      sum.run();
      EXPECT_EQ(sum.method(), method) << name;
      return out;
    };
    const std::vector<double> twice = run(SymmetricChoice::Off, {}, "all pairs");
    std::vector<double> bound;
    for (const double value : twice) bound.push_back(1e-9 * (std::fabs(value) + 1000));
    expect_within(run(SymmetricChoice::Always, {}, "symmetric"), twice, bound, name);
    EXPECT_EQ(run(SymmetricChoice::Always, rows, "all pairs"), twice) << name;
  }
}

void expect_same_interaction(const std::string& ours, const std::string& original) {
  const Oracle oracle(ours);
  const Particles p = random_particles(oracle.pipeline(), 100, 300, /*seed=*/5);
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    expect_within(sum(original, p, {.precision = precision}).at("OUTPUT"), oracle(p).values.at("OUTPUT"),
                  oracle.bounds(p, precision).at("OUTPUT"), original);
  }
}

TEST(Cunbody, TheOriginalForceListing) {
  NBCC_NEEDS_REFERENCE("../seed_pipelines/cunbody_force.pipe");
  expect_same_interaction("cunbody_gravity", reference_path("../seed_pipelines/cunbody_force.pipe"));
}

TEST(Cunbody, TheOriginalHermiteListing) {
  NBCC_NEEDS_REFERENCE("../seed_pipelines/cunbody_force_jerk_potential.pipe");
  expect_same_interaction("cunbody_hermite", reference_path("../seed_pipelines/cunbody_force_jerk_potential.pipe"));
}

}  // namespace
}  // namespace nbcc::test
