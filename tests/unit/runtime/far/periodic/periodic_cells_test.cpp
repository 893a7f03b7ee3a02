// Periodic sums in cells of many shapes, against Ewald's sums and sums over many images.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "runtime/far/periodic/periodic_tables.h"
#include "tests/support/ewald_sums.h"
#include "tests/support/periodic_sums.h"
#include "tests/support/random_source.h"

namespace nbcc {
namespace {

using test::FarBy;

struct Charges {
  std::vector<CellVector> positions;
  std::vector<double> charges;
};

// Within the parallelepiped of the vectors; neutral, or not.
Charges random_charges(const std::vector<CellVector>& vectors, int count, bool neutral) {
  test::RandomSource random(5);
  Charges result;
  for (int k = 0; k < count; ++k) {
    CellVector position{};
    for (const CellVector& vector : vectors) {
      const double x = double(random.below(1000000)) / 1e6 - 0.5;
      for (std::size_t axis = 0; axis < 3; ++axis) position[axis] += x * vector[axis];
    }
    result.positions.push_back(position);
    result.charges.push_back(k % 2 == 0 ? 1 : neutral ? -1 : 0.5);
  }
  return result;
}

// rms over i of the error over the sum of |terms| of the near images; of the potential and of the field.
struct Errors {
  double potential = 0, field = 0;
};

Errors errors_of(const std::vector<double>& sums, const std::vector<double>& exact, const PeriodicTables& tables,
                 const Charges& charges) {
  const PeriodicKernel sizes = test::periodic_kernel(3, 2, [](const CellVector& d, double* value) {
    value[0] = 1 / std::sqrt(test::squared_length(d));
    value[1] = 1 / test::squared_length(d);
  });
  const std::size_t n = charges.positions.size();
  std::vector<double> magnitudes;
  for (const double charge : charges.charges) magnitudes.push_back(std::fabs(charge));
  PeriodicTables near_alone = tables;  // with an F of 0
  near_alone.far = ChebyshevSeries(2, {1, 1, 1});
  near_alone.components.assign(2, {});
  const std::vector<double> sizes_of_terms =
      test::periodic_sums(near_alone, sizes, charges.positions, charges.positions, magnitudes, true);
  Errors errors;
  for (std::size_t i = 0; i < n; ++i) {
    errors.potential += std::pow((sums[i] - exact[i]) / sizes_of_terms[i], 2) / double(n);
    for (std::size_t k = 1; k < 4; ++k)
      errors.field += std::pow((sums[k * n + i] - exact[k * n + i]) / sizes_of_terms[n + i], 2) / double(n);
  }
  return {std::sqrt(errors.potential), std::sqrt(errors.field)};
}

struct NamedCell {
  const char* name;
  std::vector<CellVector> vectors;
};

const std::vector<NamedCell>& cells() {
  static const std::vector<NamedCell> all{
      {"cube", {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
      {"1:2:4", {{1, 0, 0}, {0, 2, 0}, {0, 0, 4}}},
      {"1:1:4", {{0, 0, 4}, {0, 1, 0}, {1, 0, 0}}},
      {"1:1:10", {{1, 0, 0}, {0, 1, 0}, {0, 0, 10}}},
      {"10:10:1", {{10, 0, 0}, {0, 10, 0}, {0, 0, 1}}},
      {"triclinic", {{1, 0, 0}, {-0.3, 1.1, 0}, {-0.4, -0.35, 0.9}}},
      {"skewed", {{1, 0, 0}, {1.9, 1, 0}, {2.3, -1.7, 1}}},
      {"left-handed", {{0, 3.1, 0}, {2.8, 0.2, 0}, {0.1, -0.4, 3.3}}},
  };
  return all;
}

TEST(PeriodicCells, EwaldsSumsAreMetInAllShapes) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  for (const NamedCell& named : cells())
    for (const double tolerance : {1e-3, 1e-6}) {
      const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, named.vectors), kernel, tolerance);
      const auto& v = named.vectors;
      for (const bool neutral : {true, false}) {
        const Charges charges = random_charges(named.vectors, 8, neutral);
        const std::vector<double> exact =
            test::ewald_coulomb(test::ewald_cell({v[0], v[1], v[2]}), charges.positions, charges.charges);
        for (const FarBy by : {FarBy::Function, FarBy::Grid}) {
          const Errors errors = errors_of(
              test::periodic_sums(tables, kernel, charges.positions, charges.positions, charges.charges, true, by),
              exact, tables, charges);
          const std::string what = std::string(named.name) + (by == FarBy::Grid ? ", grid" : ", F");
          EXPECT_LE(errors.potential, 0.1 * tolerance) << what << " " << tolerance;
          EXPECT_LE(errors.field, 0.1 * tolerance) << what << " " << tolerance;
        }
      }
    }
}

TEST(PeriodicCells, FIsExactToTwelveDigits) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  for (const std::size_t k : {std::size_t(0), std::size_t(5)}) {
    const auto& v = cells()[k].vectors;
    const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, v), kernel, 3e-12);
    const Charges charges = random_charges(v, 10, false);
    const Errors errors = errors_of(
        test::periodic_sums(tables, kernel, charges.positions, charges.positions, charges.charges, true),
        test::ewald_coulomb(test::ewald_cell({v[0], v[1], v[2]}), charges.positions, charges.charges), tables, charges);
    EXPECT_LE(errors.potential, 1e-12) << cells()[k].name;
    EXPECT_LE(errors.field, 1e-12) << cells()[k].name;
  }
}

TEST(PeriodicCells, MovedParticlesHaveTheSameSums) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  const auto& v = cells()[5].vectors;
  const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, v), kernel, 1e-9);
  Charges charges = random_charges(v, 12, false);
  const std::vector<double> sums =
      test::periodic_sums(tables, kernel, charges.positions, charges.positions, charges.charges, true, FarBy::Grid);
  for (std::size_t k = 0; k < charges.positions.size(); ++k)
    for (std::size_t axis = 0; axis < 3; ++axis)
      charges.positions[k][axis] += 0.37 + v[k % 3][axis] - 5 * v[(k + 1) % 3][axis];
  const std::vector<double> moved =
      test::periodic_sums(tables, kernel, charges.positions, charges.positions, charges.charges, true, FarBy::Grid);
  const Errors change = errors_of(moved, sums, tables, charges);
  EXPECT_LE(change.potential, 1e-9);
  EXPECT_LE(change.field, 1e-9);
  EXPECT_GT(change.field, 0);
}

TEST(PeriodicCells, ForcesOfACellAddUpToZero) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  const auto& v = cells()[5].vectors;
  const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, v), kernel, 1e-3);
  const Charges charges = random_charges(v, 12, false);
  const std::size_t n = charges.positions.size();
  const std::vector<double> sums =
      test::periodic_sums(tables, kernel, charges.positions, charges.positions, charges.charges, true, FarBy::Grid);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += charges.charges[i] * sums[(axis + 1) * n + i];
    EXPECT_NEAR(total, 0, 1e-12);  // T of odd kernels is antisymmetric
  }
}

TEST(PeriodicCells, AReplicatedCellHasTheSameSums) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  const std::vector<CellVector> once{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, twice{{1, 0, 0}, {0, 2, 0}, {0, 0, 1}};
  Charges charges = random_charges(once, 10, false);
  const PeriodicTables of_once = make_periodic_tables(make_periodic_cell(3, once), kernel, 1e-9);
  const PeriodicTables of_twice = make_periodic_tables(make_periodic_cell(3, twice), kernel, 1e-9);
  const std::vector<double> sums =
      test::periodic_sums(of_once, kernel, charges.positions, charges.positions, charges.charges, true);
  for (std::size_t k = 0; k < 10; ++k) {
    CellVector copy = charges.positions[k];
    copy[1] += 1;
    charges.positions.push_back(copy);
    charges.charges.push_back(charges.charges[k]);
  }
  const std::vector<double> replicated =
      test::periodic_sums(of_twice, kernel, charges.positions, charges.positions, charges.charges, true);
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(replicated[k * 20 + i], sums[k * 10 + i % 10], 1e-6);
}

TEST(PeriodicCells, TwoSetsHaveTheSumsOfOne) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  const auto& v = cells()[0].vectors;
  const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, v), kernel, 1e-9);
  Charges charges = random_charges(v, 10, false);
  charges.charges[0] = charges.charges[1] = 0;  // the i
  const std::vector<CellVector> of_i(charges.positions.begin(), charges.positions.begin() + 2);
  const std::vector<double> apart =
      test::periodic_sums(tables, kernel, of_i, {charges.positions.begin() + 2, charges.positions.end()},
                          {charges.charges.begin() + 2, charges.charges.end()}, false);
  const std::vector<double> together =
      test::periodic_sums(tables, kernel, charges.positions, charges.positions, charges.charges, true);
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(apart[k * 2 + i], together[k * 10 + i], 1e-11);
}

// A slab's sums are those of a cell with much vacuum, but for the mode of which the plane's wave vector is 0:
// -2 pi |z| / area in the slab, -2 pi (|z| - z^2 / height) / area in the cell.
TEST(PeriodicCells, SlabsMeetEwaldsSumsWithVacuum) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  for (const double thickness : {0.1, 1.0, 3.0})
    for (const double tolerance : {1e-5, 1e-8}) {
      const std::vector<CellVector> plane{{1, 0, 0}, {0.3, 1.1, 0}};
      const double height = thickness + 8;
      const test::EwaldCell vacuum = test::ewald_cell({plane[0], plane[1], {0, 0, height}});
      Charges charges = random_charges({plane[0], plane[1], {0, 0, thickness}}, 12, true);
      for (CellVector& position : charges.positions) position[2] += 7;  // the origin follows
      std::vector<OpenExtent> extent{{7 - thickness / 2, 7 + thickness / 2}};
      if (open_directions(3, plane)[0][2] < 0) extent = {{-extent[0].high, -extent[0].low}};
      const PeriodicTables tables = make_periodic_tables(make_periodic_cell(3, plane, extent), kernel, tolerance);
      EXPECT_EQ(tables.components[0].convention, PeriodicConvention::UpToConstant);
      EXPECT_LE(tables.evaluated_levels, 2);
      EXPECT_EQ(tables.components[1].convention, PeriodicConvention::OppositePairs);
      EXPECT_EQ(tables.components[3].convention, PeriodicConvention::Converges);  // z / r^3
      std::vector<double> exact = test::ewald_coulomb(vacuum, charges.positions, charges.charges);
      for (std::size_t i = 0; i < 12; ++i)
        for (std::size_t j = 0; j < 12; ++j) {
          const double z = charges.positions[j][2] - charges.positions[i][2];
          exact[i] -= 2 * std::numbers::pi / vacuum.volume * charges.charges[j] * z * z;
          exact[36 + i] += 4 * std::numbers::pi / vacuum.volume * charges.charges[j] * z;
        }
      for (const FarBy by : {FarBy::Function, FarBy::Grid}) {
        const Errors errors = errors_of(
            test::periodic_sums(tables, kernel, charges.positions, charges.positions, charges.charges, true, by), exact,
            tables, charges);
        EXPECT_LE(errors.potential, 0.1 * tolerance) << thickness;
        EXPECT_LE(errors.field, 0.1 * tolerance) << thickness;
      }
    }
}

// Sums of neutral charges over images along one vector fall like n^-3.
TEST(PeriodicCells, WiresMeetSumsOverManyImages) {
  const PeriodicKernel kernel = test::coulomb_kernel();
  const std::vector<CellVector> wire{{0, 0, 1}};
  for (const double width : {0.3, 1.0, 3.0}) {
    const Charges charges = random_charges({{width, 0, 0}, {0, width, 0}, {0, 0, 1}}, 8, true);
    const std::vector<OpenExtent> extents(2, {-width / 2, width / 2});
    const PeriodicTables tables =
        make_periodic_tables(make_periodic_cell(3, wire, extents), kernel, width < 2 ? 1e-7 : 1e-6);
    constexpr int kImages = 20000;
    std::vector<double> exact(32), positions(3 * (2 * kImages + 1)), of_j(4);
    for (std::size_t i = 0; i < 8; ++i)
      for (std::size_t j = 0; j < 8; ++j) {
        std::int64_t count = 0;
        for (int n = -kImages; n <= kImages; ++n)
          if (i != j || n != 0) {
            for (std::size_t axis = 0; axis < 3; ++axis)
              positions[axis * std::size_t(2 * kImages + (i != j)) + std::size_t(count)] =
                  charges.positions[j][axis] + (axis == 2 ? n : 0);
            ++count;
          }
        kernel.sums(1, charges.positions[i].data(), count, positions.data(), of_j.data());
        for (std::size_t k = 0; k < 4; ++k) exact[k * 8 + i] += charges.charges[j] * of_j[k];
      }
    for (const FarBy by : {FarBy::Function, FarBy::Grid}) {
      const Errors errors = errors_of(
          test::periodic_sums(tables, kernel, charges.positions, charges.positions, charges.charges, true, by), exact,
          tables, charges);
      EXPECT_LE(errors.potential, 0.1 * tables.tolerance) << width;
      EXPECT_LE(errors.field, 0.1 * tables.tolerance) << width;
    }
  }
}

}  // namespace
}  // namespace nbcc
