// Water beside what LAMMPS has computed of it.
#include "examples/water/water.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "tests/support/folders.h"

namespace examples {
namespace {

// Half a million terms of double precision, whose magnitudes are 22 times their sum: 1e-14 and less is what is seen.
constexpr double kTolerance = 1e-10;
constexpr double kSkin = 1.5;

const Reference& reference() {
  static const Reference read = read_reference(nbcc::test::source_folder() + "/examples/water/from_lammps");
  return read;
}

void expect_near(double here, double there, const std::string& what) {
  EXPECT_NEAR(here, there, kTolerance * std::fabs(there)) << what;
}

void expect_terms(const WaterEnergies& energies, const std::string& where) {
  const std::map<std::string, double> here{
      {"bond_oh", energies.bond_oh}, {"bond_hh", energies.bond_hh},       {"lj", energies.lj},
      {"coulomb", energies.coulomb}, {"potential", energies.potential()}, {"kinetic", energies.kinetic},
      {"total", energies.total()}};
  for (const auto& [name, value] : here) expect_near(value, reference().term(name), where + ": " + name);
}

void expect_forces(const Numbers& forces, const std::string& where) {
  const Numbers& there = reference().forces;
  ASSERT_EQ(forces.size(), there.size());
  const double largest = std::fabs(*std::ranges::max_element(there, {}, [](double f) { return std::fabs(f); }));
  for (std::size_t k = 0; k < there.size(); ++k)
    ASSERT_NEAR(forces[k], there[k], kTolerance * largest) << where << ": atom " << k / 3 << ", axis " << k % 3;
}

// The energies and forces of the configuration, and the energies of the run.
void expect_lammps(const nbcc::Device& device, double skin, std::int64_t last_step) {
  Water water(device, reference(), skin);
  const std::string where = device.name();
  expect_terms(water.energies(), where);
  expect_forces(water.forces(), where);
  std::int64_t step = 0;
  for (const Reference::Moment& moment : reference().run) {
    if (moment.step > last_step) break;
    for (; step < moment.step; ++step) water.step(0.5);
    const WaterEnergies now = water.energies();
    const std::string when = where + ", step " + std::to_string(step);
    expect_near(now.potential(), moment.potential, when + ": potential");
    expect_near(now.kinetic, moment.kinetic, when + ": kinetic");
    expect_near(now.total(), moment.total, when + ": total");
  }
}

TEST(Water, EveryAtomHasTheTwoOthersOfItsMolecule) {
  const PairRows pairs = within_molecules(6);
  EXPECT_EQ(pairs.first, (std::vector<std::int64_t>{0, 2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(pairs.j, (std::vector<std::int64_t>{1, 2, 0, 2, 0, 1, 4, 5, 3, 5, 3, 4}));
}

TEST(Water, TheModelIsThatOfTheStoredNumbers) {
  const WaterModel model;
  const std::map<std::string, double> here{{"K1", model.oh_strength},
                                           {"r1", model.oh_length},
                                           {"K2", model.hh_strength},
                                           {"r2", model.hh_length},
                                           {"eps", model.eps},
                                           {"sigma", model.sigma},
                                           {"rc", model.rc},
                                           {"alpha", model.alpha},
                                           {"qqr", model.coulomb},
                                           {"mass_O", model.oxygen_mass},
                                           {"mass_H", model.hydrogen_mass}};
  for (const auto& [name, value] : here) EXPECT_EQ(value, reference().term(name)) << name;
  EXPECT_EQ(reference().atoms(), 1536);
  EXPECT_EQ(reference().charges[0], reference().term("q_O"));
  EXPECT_EQ(reference().charges[1], reference().term("q_H"));
}

TEST(Water, EnergiesForcesAndARunAreThoseOfLammps) {
  const nbcc::Device device("cpu");
  expect_lammps(device, kSkin, 200);
}

// Neither the instructions nor what is kept of a search change what is summed.
TEST(Water, AlsoWithOtherInstructionsAndASearchInEveryStep) {
  for (const char* const isa : {"sse2", "avx2", "avx512"}) {
    try {
      const nbcc::Device device("cpu", {.isa = isa});
      expect_lammps(device, 0, 0);
    } catch (const nbcc::Error& error) {
      if (error.status() != NBCC_ERROR_DEVICE) throw;
    }
  }
  const nbcc::Device device("cpu");
  expect_lammps(device, 0, 100);
}

TEST(Water, NeighboursAreSoughtNowAndThen) {
  const nbcc::Device device("cpu");
  Water water(device, reference(), kSkin);
  for (int step = 0; step < 20; ++step) water.step(0.5);
  const nbcc_statistics found = water.statistics();
  EXPECT_EQ(found.runs, 21);
  EXPECT_GE(found.searches, 1);
  EXPECT_LE(found.searches, 3);
  // The pairs of LAMMPS are 232682 at first; both ways, with those of molecules and of atoms with themselves.
  EXPECT_NEAR(double(found.pairs_within), 2 * 232682 + 3 * 1536, 2000);
}

TEST(WaterOnGpu, EnergiesForcesAndARunAreThoseOfLammps) {
  try {
    const nbcc::Device device("cuda");
    expect_lammps(device, kSkin, 200);
  } catch (const nbcc::Error& error) {
    if (error.status() != NBCC_ERROR_DEVICE) throw;
    GTEST_SKIP() << error.what();
  }
}

}  // namespace
}  // namespace examples
