// The sum that scaling a Plummer sphere takes: right, and the same bits wherever and however it is made.
#include "cli/commands/potential_energy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/emit/cpu/emit_cpu.h"
#include "particles/initial_conditions/initial_conditions.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/baseline_isa.h"
#include "tests/support/command.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

using testing::HasSubstr;

long double by_loops(const ParticleTable& table) {
  const auto &m = std::get<std::vector<double>>(table.find("m")->data),
             &x = std::get<std::vector<double>>(table.find("x")->data);
  long double sum = 0;
  for (std::size_t i = 0; i < m.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      long double d2 = 0;
      for (std::size_t c = 0; c < 3; ++c) d2 += std::pow((long double)(x[3 * i + c]) - x[3 * j + c], 2);
      if (d2 > 0) sum -= m[i] * m[j] / std::sqrt(d2);
    }
  return sum;
}

KernelChoice on_cpu(Isa isa, int threads) {
  KernelChoice choice;
  choice.isa = isa;
  choice.threads = threads;
  choice.cache_folder = "";
  return choice;
}

TEST(PotentialEnergy, IsRightToThirteenDigits) {
  for (const int n : {2, 3, 100, 3000}) {
    const ParticleTable table = make_initial_conditions("plummer", n, 3);
    const long double expected = by_loops(table);
    EXPECT_NEAR(double(potential_energy(table, {}) / expected), 1, 1e-13) << n;
  }
}

// As "the same seed gives the same particles everywhere" wants it. 2,500: several ranges of i.
TEST(PotentialEnergy, HasTheSameBitsEverywhere) {
  const ParticleTable table = make_initial_conditions("plummer", 2500, 5);
  const double one = potential_energy(table, on_cpu(test::baseline_isa(), 1));
  EXPECT_NEAR(one, -0.5, 0.05);
  for (const IsaFacts& isa : kIsas) {
    if (!isa.is_here()) continue;
    for (const int threads : {1, 2, 3}) EXPECT_EQ(potential_energy(table, on_cpu(isa.isa, threads)), one);
  }
  test::CudaShim shim;
  const auto gpu = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
  EXPECT_EQ(potential_energy(table, {}, gpu), one);
}

TEST(PotentialEnergy, ParticlesAtOnePlaceAddNothing) {
  ParticleTable table = make_initial_conditions("two-body", 0, 0);
  EXPECT_EQ(potential_energy(table, {}), -0.25);
  std::get<std::vector<double>>(table.columns[2].data) = {1, 2, 3, 1, 2, 3};
  EXPECT_EQ(potential_energy(table, {}), 0);
}

// What a long sum takes is said before it is made, and how to do without.
TEST(PotentialEnergy, IsAnnouncedWhereItTakesLong) {
  test::Shell shell;
  const auto small = shell.nbcc("make-ic plummer --n 2000 -o a.npz"),
             large = shell.nbcc("make-ic plummer --n 32000 -o b.npz");
  EXPECT_EQ(small.code, 0);
  EXPECT_EQ(small.err, "");
  EXPECT_EQ(large.code, 0) << large.err;
  EXPECT_THAT(large.err, HasSubstr("nbcc: scaling to K = 1/4 and U = -1/2 sums over 1.02e+09 pairs, about "));
  EXPECT_THAT(large.err, HasSubstr("--no-scale skips this"));
  EXPECT_EQ(shell.nbcc("make-ic plummer --n 32000 --no-scale -o c.npz").err, "");
  EXPECT_EQ(shell.nbcc("make-ic cube --n 32000 -o d.npz").err, "");
  EXPECT_EQ(shell.nbcc("make-ic plummer --n 32 --device cuda:7777 -o e.npz").code, 3);
}

}  // namespace
}  // namespace nbcc
