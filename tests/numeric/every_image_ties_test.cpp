// every_image() where rounding decides: pairs at exactly the cutoff are found from both sides, for every lattice,
// offset and precision; particles far away cost no more than others; lattices of skewed vectors are reduced.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>
#include <set>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/error.h"
#include "runtime/sum/derived/for_callers.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_run.h"

namespace nbcc::test {
namespace {

using TieCell = std::array<std::array<double, 3>, 3>;

// A count, and an antisymmetric term; `test`: the guard.
std::shared_ptr<const Kernel> tie_kernel(CpuDevice& device, Isa isa, const std::string& test, Precision precision) {
  const Pipeline pipeline = parse(
      {"ties.pipe",
       "input_i vec3 xi; input_j vec3 xj; param vec3 a; param vec3 b; param vec3 c; param real rc;\n"
       "output(count) int n; output(sum) vec3 force; output(sum) vec3 steps;\n"
       "vec3 d = every_image(xj - xi, a, b, c);\nskip_if(self_pair || " +
           test + ");\nn += true; force += d;\n" + "steps += vec3(image_index(0), image_index(1), image_index(2));\n"});
  return for_callers(device.load(build_cpu_kernel(pipeline, {precision}, isa, "")));
}

struct TieRun {
  TieRun(const std::shared_ptr<const Kernel>& kernel, std::vector<double> positions, const TieCell& cell, double rc)
      : x(std::move(positions)), n(x.size() / 3), force(x.size()), steps(x.size()), sum(kernel) {
    const auto count = std::int64_t(n.size());
    for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, count, 24, 8});
    sum.bind("n", {n.data(), Element::Double, count, 8, 8});
    sum.bind("force", {force.data(), Element::Double, count, 24, 8});
    sum.bind("steps", {steps.data(), Element::Double, count, 24, 8});
    for (std::size_t k = 0; k < 3; ++k) sum.set_param(std::array{"a", "b", "c"}[k], cell[k]);
    sum.set_param("rc", {&rc, 1});
  }
  std::vector<double> x, n, force, steps;
  SumState sum;
};

// Crystals whose shells are at exactly the cutoff, in rounded numbers: the neighbours of an atom number as many as
// those of any other, each pair has its reverse, and forces cancel but for the rounding of the sums.
TEST(EveryImageTies, AreSymmetric) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  struct Crystal {
    std::vector<std::array<double, 3>> atoms;
    std::vector<double> shells;  // in lattice constants
  };
  const Crystal crystals[] = {
      {{{0, 0, 0}}, {1, std::sqrt(2), 2}},
      {{{0, 0, 0}, {0.5, 0.5, 0.5}}, {std::sqrt(0.75), 1, std::sqrt(2)}},
      {{{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}}, {std::sqrt(0.5), 1, std::sqrt(1.5)}}};
  const double constants[] = {3.6, 3.615, 4.05, 5.43, 2.87, 4.11, 3.3};
  const std::array<double, 3> offsets[] = {{0, 0, 0}, {0.1, 0.37, -0.211}, {7.3, -11.9, 3.7}};
  int pairs = 0;
  for (const Precision precision : {Precision::Double, Precision::Mixed, Precision::Single})
    for (const char* test : {"dot(d, d) >= rc * rc", "length(d) > rc"}) {
      const auto kernel = tie_kernel(device, isa, test, precision);
      for (const Crystal& crystal : crystals)
        for (const double constant : constants)
          for (const auto& offset : offsets)
            for (const double shell : crystal.shells) {
              SCOPED_TRACE(fmt::format("{} {} {} atoms, a {}, offset {}, shell {}", name(precision), test,
                                       crystal.atoms.size(), constant, offset[0], shell));
              std::vector<double> x;
              for (const auto& atom : crystal.atoms)
                for (std::size_t c = 0; c < 3; ++c) x.push_back(constant * atom[c] + offset[c]);
              TieRun run(kernel, x, {{{constant, 0, 0}, {0, constant, 0}, {0, 0, constant}}}, shell * constant);
              run.sum.run();
              double total = 0;
              for (std::size_t c = 0; c < 3; ++c) {
                double force = 0, steps = 0;
                for (std::size_t i = 0; i < run.n.size(); ++i)
                  force += run.force[3 * i + c], steps += run.steps[3 * i + c];
                EXPECT_NEAR(force, 0, precision == Precision::Double ? 1e-11 : 1e-3);
                EXPECT_EQ(steps, 0);
              }
              for (const double n : run.n) total += n;
              const FoundPairs found = run.sum.find_pairs();
              std::set<std::array<std::int64_t, 5>> all;
              for (std::size_t i = 0; i < run.n.size(); ++i)
                for (auto p = std::size_t(found.first[i]); p < std::size_t(found.first[i + 1]); ++p) {
                  std::array<std::int64_t, 5> key{std::int64_t(i), found.j[p]};
                  for (std::size_t c = 0; c < 3; ++c) key[2 + c] = std::llround(found.shifts[3 * p + c] / constant);
                  all.insert(key);
                }
              EXPECT_EQ(double(all.size()), total + double(run.n.size()));  // with each pair of a particle with itself
              for (const auto& [i, j, k, l, m] : all) EXPECT_TRUE(all.contains({j, i, -k, -l, -m}));
              pairs += int(all.size());
            }
    }
  EXPECT_GT(pairs, 10000);
}

// The particle that is far away is moved by whole periods like any other.
TEST(EveryImageTies, OneFarParticleCostsNoMoreThanOthers) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const auto kernel = tie_kernel(device, isa, "dot(d, d) >= rc * rc", Precision::Single);
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> fraction(0, 1);
  const TieCell box{{{10, 0, 0}, {0, 10, 0}, {0, 0, 10}}}, skewed{{{10, 0, 0}, {3, 10, 0}, {-2, 4, 10}}},
      slab{{{10, 0, 0}, {0, 10, 0}, {0, 0, HUGE_VAL}}};
  for (const TieCell& cell : {box, skewed, slab}) {
    std::vector<double> x(9000);
    for (double& one : x) one = 10 * fraction(random);
    TieRun near(kernel, x, cell, 1);
    near.sum.run();
    for (const double far : {1e6, 3e7, 5e8, 1e9}) {
      TieRun run(kernel, x, cell, 1);
      for (std::size_t c = 0; c < 3; ++c) run.x[21 + c] = c == 1 ? -far : far;
      const auto begin = std::chrono::steady_clock::now();
      run.sum.run();
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      EXPECT_LT(seconds.count(), 1) << far;
      double changed = 0;
      for (std::size_t i = 0; i < near.n.size(); ++i) changed += i == 7 ? 0 : std::fabs(run.n[i] - near.n[i]);
      EXPECT_LE(changed, 40);  // the neighbours that it left or has now
    }
  }
  std::vector<double> x(9000, 1.0);
  x[23] = -1e20;
  TieRun run(kernel, x, box, 1);
  try {
    run.sum.run();
    FAIL() << "expected a refusal";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("i-particle 7 is -1e+19 lengths of periodic vector 2 away"),
              std::string::npos)
        << error.what();
  }
}

// Vectors of the same lattice, thousands of cells long, give the same sums, and indices of the given vectors.
TEST(EveryImageTies, SkewedVectorsAreReduced) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const auto kernel = tie_kernel(device, isa, "dot(d, d) >= rc * rc", Precision::Double);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> fraction(0, 1);
  std::vector<double> x(300);
  for (double& one : x) one = 4 * fraction(random);
  TieRun upright(kernel, x, {{{4, 0, 0}, {0, 4, 0}, {0, 0, 4}}}, 2.3),
      skewed(kernel, x, {{{4, 0, 0}, {40000, 4, 0}, {-12000, 80000, 4}}}, 2.3);
  upright.sum.run();
  const auto begin = std::chrono::steady_clock::now();
  skewed.sum.run();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(seconds.count(), 1);
  EXPECT_EQ(skewed.n, upright.n);
  for (std::size_t i = 0; i < x.size(); i += 3) {
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(skewed.force[i + c], upright.force[i + c], 1e-9);
    const double k = skewed.steps[i], l = skewed.steps[i + 1], m = skewed.steps[i + 2];
    EXPECT_EQ(k + 10000 * l - 3000 * m, upright.steps[i]);
    EXPECT_EQ(l + 20000 * m, upright.steps[i + 1]);
    EXPECT_EQ(m, upright.steps[i + 2]);
  }
}

}  // namespace
}  // namespace nbcc::test
