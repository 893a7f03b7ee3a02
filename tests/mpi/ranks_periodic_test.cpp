// Periodic sums to a tolerance in which each rank has its own j alone: compared with more exact sums of one process,
// and with Madelung's constant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/mpi/gathered_case.h"

namespace nbcc::test::ranks {
namespace {

using testing::HasSubstr;
using Vector = std::array<double, 3>;
using Vectors = std::array<Vector, 3>;

// |terms| are |m| exp(-screening * r) / r^power.
struct Law {
  std::string text;
  double power = 1, screening = 0;
};

std::string text_of(const std::string& terms, const std::string& guard = "skip_if(self_pair);") {
  return "input_i vec3 xi; input_j vec3 xj; input_j real mj; param vec3 a; param vec3 b; param vec3 c;\n"
         "output(sum) real pot;\nvec3 d = every_image(xj - xi, a, b, c);\n" +
         guard + "\nreal r = sqrt(dot(d, d));\n" + terms;
}
const Law kCoulomb{text_of("pot += mj / r;")};
const Law kScreened{text_of("pot += mj * exp(-2 * r) / r;"), 1, 2};
const Law kDispersion{text_of("pot += mj / (r * r * r * r * r * r);"), 6};
const Law kSoftDispersion{text_of("r = r * r + 1e-4; pot += mj / (r * r * r);"), 6};
const Law kSoftened{text_of("pot += mj * rsqrt(r * r + 1e-6);")};
const Law kForces{
    "input_i vec3 xi; input_j vec3 xj; input_j real mj; param vec3 a; param vec3 b; param vec3 c;\n"
    "output(sum) vec3 acc;\nvec3 d = every_image(xj - xi, a, b, c);\nskip_if(self_pair);\n"
    "real r = rsqrt(dot(d, d));\nacc += mj * r * r * r * d;",
    2};
const Law kTotal{
    "input_i vec3 xi; input_j vec3 xj; input_j real mj; param vec3 a; param vec3 b; param vec3 c;\n"
    "output(sum) real pot; output(total) double energy;\nvec3 d = every_image(xj - xi, a, b, c);\n"
    "skip_if(self_pair);\npot += mj * rsqrt(dot(d, d));\nvoid finish() { energy += pot; }"};

const Vectors kCube{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
const Vectors kSlanted{{{1.2, 0, 0}, {0.5, 0.9, 0}, {-0.4, 0.3, 1}}};
const Vectors kSlab{{{1, 0, 0}, {0.2, 1.1, 0}, {0, 0, 0}}};
const Vectors kWire{{{0, 0, 0}, {0, 0.8, 0}, {0, 0, 0}}};

constexpr double kTolerance = 1e-3;

class RanksPeriodic : public GatheredTest {
 protected:
  // Within some periods of the origin; in open directions within the unit length, sorted along z, so that ranks have
  // different extents.
  static Particles particles(std::int64_t count, unsigned seed, const Vectors& cell, bool is_neutral) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<Vector> x;
    for (std::int64_t n = 0; n < count; ++n) {
      Vector one{};
      for (std::size_t k = 0; k < 3; ++k) {
        const bool is_open = cell[k] == Vector{};
        const double along = unit(random) + (is_open ? 0 : double(n % 3) - 1);
        for (std::size_t axis = 0; axis < 3; ++axis)
          one[axis] += is_open ? (axis == k ? along : 0) : along * cell[k][axis];
      }
      x.push_back(one);
    }
    std::ranges::sort(x, {}, [](const Vector& one) { return one[2]; });
    Particles made;
    for (std::size_t n = 0; n < x.size(); ++n) {
      made.x.insert(made.x.end(), x[n].begin(), x[n].end());
      made.m.push_back(!is_neutral ? 0.5 + unit(random) : n % 2 == 0 ? 1 : -1);
    }
    return made;
  }
  static void set_cell(nbcc::Sum& sum, const Vectors& cell) {
    const char* const names[] = {"a", "b", "c"};
    for (std::size_t k = 0; k < 3; ++k) sum.set(names[k], cell[k]);
  }
  // Of the near images.
  static double size_of_terms(const Law& law, const Vectors& cell, const double* at, const Particles& j) {
    std::vector<Vector> shifts{{}};
    for (const Vector& row : cell) {
      if (row == Vector{}) continue;
      std::vector<Vector> more;
      for (const Vector& shift : shifts)
        for (int n = -2; n <= 2; ++n)
          more.push_back({shift[0] + n * row[0], shift[1] + n * row[1], shift[2] + n * row[2]});
      shifts = more;
    }
    double sum = 0;
    for (std::int64_t k = 0; k < j.count(); ++k) {
      Vector d;
      for (std::size_t axis = 0; axis < 3; ++axis) d[axis] = j.x[std::size_t(3 * k) + axis] - at[axis];
      for (std::size_t row = 3; row-- > 0;) {  // roughly into the cell, whose rows are of a triangular matrix
        if (cell[row][row] == 0) continue;
        const double whole = std::round(d[row] / cell[row][row]);
        for (std::size_t axis = 0; axis < 3; ++axis) d[axis] -= whole * cell[row][axis];
      }
      for (const Vector& shift : shifts) {
        double r2 = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) r2 += std::pow(d[axis] + shift[axis], 2);
        if (r2 <= 1e-20) continue;
        const double screened = law.screening == 0 ? 1 : std::exp(-law.screening * std::sqrt(r2));
        sum += std::fabs(j.m[std::size_t(k)]) * screened * std::pow(r2, -law.power / 2);
      }
    }
    return sum;
  }
  // [i]: the sums of |terms| of some dozens of i; 0: of the others.
  static Reals sizes_of_terms(const Law& law, const Vectors& cell, const Particles& i, const Particles& j) {
    constexpr std::size_t kChecked = 48;
    Reals sizes(i.m.size(), 0.0);
    for (std::size_t k = 0; k < sizes.size(); k += std::max<std::size_t>(1, sizes.size() / kChecked))
      sizes[k] = size_of_terms(law, cell, &i.x[3 * k], j);
    return sizes;
  }
  // The rms over the i with sizes, of all ranks, of |got - exact| / size.
  static double error_of_all(const Reals& sizes, const Reals& got, const Reals& exact) {
    double sums[] = {0, 0};
    const std::size_t width = sizes.empty() ? 1 : got.size() / sizes.size();
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      if (sizes[k] == 0) continue;
      for (std::size_t c = 0; c < width; ++c)
        sums[0] += std::pow((got[k * width + c] - exact[k * width + c]) / sizes[k], 2);
      ++sums[1];
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return std::sqrt(sums[0] / sums[1]);
  }
  static std::int64_t first(std::int64_t count, int of_rank, int style) {
    if (style == kStyles) return of_rank == 0 ? 0 : count;
    return first_of(count, of_rank, style);
  }
  static void expect_own_j(nbcc::Sum& sum, const std::string& what) {
    if (rank_count() > 1)
      EXPECT_THAT(std::string(sum.statistics().reason), HasSubstr("each rank has the j that its i need: this one "))
          << what;
  }
  struct Styles {
    int of_i = 0, of_j = 0;
  };
  // One sum for all distributions of the particles, which keeps its table of far images.
  void expect_exact(const Law& law, const Vectors& cell, const Particles& all_i, const Particles& all_j,
                    const std::vector<Styles>& styles, int order = 4) {
    const nbcc::Pipeline pipeline = compiled(law.text, NBCC_SINGLE), exact = compiled(law.text);
    Bound whole(exact, all_i, all_j);
    nbcc::Sum mine(pipeline);
    for (nbcc::Sum* one : {&whole.sum, &mine}) set_cell(*one, cell);
    whole.sum.tolerance(0.1 * kTolerance);
    whole.sum.run();
    const std::string name = whole.columns.contains("acc") ? "acc" : "pot";
    const Reals sizes = sizes_of_terms(law, cell, all_i, all_j);
    const nbcc_far_choice choice{sizeof choice, order, 0, 0};
    ASSERT_EQ(nbcc_sum_set_tolerance(mine.get(), kTolerance, &choice, nullptr), NBCC_OK);
    for (const Styles& style : styles) {
      const std::string what = "styles " + std::to_string(style.of_i) + ", " + std::to_string(style.of_j);
      const std::int64_t begin = first(all_i.count(), rank, style.of_i),
                         end = first(all_i.count(), rank + 1, style.of_i);
      Particles i = all_i.part(begin, end),
                j = all_j.part(first(all_j.count(), rank, style.of_j), first(all_j.count(), rank + 1, style.of_j));
      const Reals expected = rows_of(whole.columns[name], all_i.count(), begin, end);
      Reals got(expected.size());
      mine.bind("xi", i.x).bind("xj", j.x).bind("mj", j.m).bind(name, got);
      for (int times = 0; times < 2; ++times) {
        std::ranges::fill(got, -7.0);
        ring.run(mine);
        EXPECT_LE(error_of_all(rows_of(sizes, all_i.count(), begin, end), got, expected), 1.3 * kTolerance)
            << what << ", run " << times;
        const nbcc_statistics found = mine.statistics();
        EXPECT_STREQ(found.method, "far field") << what << ": " << found.reason;
        EXPECT_LE(found.error, kTolerance) << what;
        EXPECT_GT(found.error, 0) << what;
        EXPECT_GE(found.images, 5);
        if (order > 0) EXPECT_EQ(found.order, order);
        expect_own_j(mine, what);
      }
    }
  }
};

TEST_F(RanksPeriodic, OfOneSetInAnyDistribution) {
  for (const bool is_neutral : {true, false}) {
    const Particles all = particles(1200, 3, kCube, is_neutral);
    expect_exact(kCoulomb, kCube, all, all, {{0, 0}, {1, 1}, {2, 2}, {3, 3}});
  }
}

TEST_F(RanksPeriodic, OfSlantedCells) {
  const Particles all = particles(1200, 4, kSlanted, false);
  expect_exact(kScreened, kSlanted, all, all, {{1, 1}});
  expect_exact(kForces, kSlanted, all, all, {{0, 0}});
}

TEST_F(RanksPeriodic, OfSlabsAndWires) {
  for (const Vectors& cell : {kSlab, kWire}) {
    const Particles all = particles(1600, 5, cell, true);
    expect_exact(kCoulomb, cell, all, all, {{0, 0}, {1, 1}, {2, 2}});
  }
}

TEST_F(RanksPeriodic, OfTermsThatFallOffFast) {
  const Particles all = particles(1600, 6, kCube, false);
  expect_exact(kDispersion, kCube, all, all, {{1, 1}}, 6);
}

// No i and j of one index are one particle; self_pair is false for all pairs.
TEST_F(RanksPeriodic, OfTwoSets) {
  const Particles i = particles(1000, 7, kCube, false), j = particles(1200, 8, kCube, true);
  expect_exact(kCoulomb, kCube, i, j, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
}

// i and j at the same positions with other indices, whose pairs act: each rank has all j.
TEST_F(RanksPeriodic, OfTwoSetsAtTheSamePositions) {
  const std::int64_t count = 1200, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  const Particles i = particles(count, 8, kCube, false);
  Particles j = i;
  std::ranges::rotate(j.x, j.x.begin() + 3);
  std::ranges::rotate(j.m, j.m.begin() + 1);
  const nbcc::Pipeline pipeline = compiled(kSoftened.text, NBCC_SINGLE), exact = compiled(kSoftened.text);
  Bound mine(pipeline, i.part(begin, end), j.part(begin, end)), whole(exact, i, j);
  for (Bound* one : {&whole, &mine}) set_cell(one->sum, kCube);
  whole.sum.tolerance(0.1 * kTolerance);
  whole.sum.run();
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kTolerance, &choice, nullptr), NBCC_OK);
  ring.run(mine.sum);
  const Reals sizes = rows_of(sizes_of_terms(kCoulomb, kCube, i, j), count, begin, end);
  const Reals expected = rows_of(whole.columns["pot"], count, begin, end);
  EXPECT_LE(error_of_all(sizes, mine.columns["pot"], expected), 1.3 * kTolerance);
  if (rank_count() > 1)
    EXPECT_THAT(std::string(mine.sum.statistics().reason), HasSubstr("because the text compares i_index and j_index"));
}

// Terms of near pairs have nearly all of the sum: a grid in place of neighbours across a border of the cell would show.
TEST_F(RanksPeriodic, NearImagesOfOtherRanksActAsParticles) {
  constexpr double kFixedTolerance = 0.02;
  const std::int64_t count = 6000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  const Particles all = particles(count, 15, kCube, false), own = all.part(begin, end);
  const nbcc::Pipeline pipeline = compiled(kSoftDispersion.text, NBCC_SINGLE), exact = compiled(kSoftDispersion.text);
  Bound mine(pipeline, own, own), whole(exact, own, all);
  for (Bound* one : {&whole, &mine}) set_cell(one->sum, kCube);
  whole.sum.offsets(begin, 0);
  whole.sum.tolerance(1e-4);
  whole.sum.run();
  const nbcc_far_choice choice{sizeof choice, 5, 16, 0.4};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kFixedTolerance, &choice, nullptr), NBCC_OK);
  ring.run(mine.sum);
  expect_own_j(mine.sum, "near images");
  EXPECT_LE(mine.sum.statistics().error, kFixedTolerance);
  double sums[] = {0, double(own.count())};  // all terms are positive
  for (std::size_t k = 0; k < own.m.size(); ++k)
    sums[0] += std::pow(mine.columns["pot"][k] / whole.columns["pot"][k] - 1, 2);
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_LE(std::sqrt(sums[0] / sums[1]), kFixedTolerance);
}

TEST_F(RanksPeriodic, ChoosesByTheWorkOfAll) {
  const Particles all = particles(4000, 9, kCube, true);
  expect_exact(kCoulomb, kCube, all, all, {{1, 1}}, 0);
}

// i that are some of the j, under other indices than those of a prefix: each rank has all j, because self_pair needs
// the indices of both.
TEST_F(RanksPeriodic, OfSomeOfTheParticles) {
  const std::int64_t count = 1200;
  const Particles all = particles(count, 10, kCube, true);
  const std::int64_t begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  const nbcc::Pipeline pipeline = compiled(kCoulomb.text, NBCC_SINGLE), exact = compiled(kCoulomb.text);
  const Particles own = all.part(begin, end);
  Bound mine(pipeline, own, own), whole(exact, own, all);
  for (Bound* one : {&whole, &mine}) set_cell(one->sum, kCube);
  whole.sum.offsets(begin, 0);
  whole.sum.tolerance(0.1 * kTolerance);
  whole.sum.run();
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kTolerance, &choice, nullptr), NBCC_OK);
  Indices list;
  for (std::int64_t k = 0; k < end - begin; k += 2) list.push_back(k);
  nbcc_run_options options{};
  options.size = sizeof options;
  options.i_list = list.data();
  options.i_count = std::int64_t(list.size());
  ASSERT_EQ(nbcc_mpi_run(ring.get(), mine.sum.get(), &options, nullptr), NBCC_OK);
  Particles chosen;
  Reals got, expected;
  for (const std::int64_t k : list) {
    chosen.x.insert(chosen.x.end(), own.x.begin() + 3 * k, own.x.begin() + 3 * k + 3);
    chosen.m.push_back(own.m[std::size_t(k)]);
    got.push_back(mine.columns["pot"][std::size_t(k)]);
    expected.push_back(whole.columns["pot"][std::size_t(k)]);
  }
  EXPECT_LE(error_of_all(sizes_of_terms(kCoulomb, kCube, chosen, all), got, expected), 1.3 * kTolerance);
  if (rank_count() > 1)
    EXPECT_THAT(std::string(mine.sum.statistics().reason),
                HasSubstr("each rank has the j of all ranks, because the text compares i_index and j_index"));
}

// Madelung's constant of NaCl: OEIS A085469. Ions lie on the borders of the cell and of domains.
TEST_F(RanksPeriodic, OfSodiumChlorideIsMadelungs) {
  constexpr int kSide = 12;
  Particles all;
  for (int k = 0; k < kSide * kSide * kSide; ++k) {
    const int x = k % kSide, y = k / kSide % kSide, z = k / kSide / kSide;
    for (const int one : {x, y, z}) all.x.push_back(one - kSide / 2);
    all.m.push_back((x + y + z) % 2 == 0 ? 1 : -1);
  }
  const std::int64_t begin = first_of(all.count(), rank, 0), end = first_of(all.count(), rank + 1, 0);
  const Particles own = all.part(begin, end);
  const nbcc::Pipeline pipeline = compiled(kTotal.text);
  Bound mine(pipeline, own, own);
  set_cell(mine.sum, {{{kSide, 0, 0}, {0, kSide, 0}, {0, 0, kSide}}});
  const nbcc_far_choice choice{sizeof choice, 6, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), 1e-5, &choice, nullptr), NBCC_OK);
  ring.run(mine.sum);
  expect_own_j(mine.sum, "ions");
  Reals exact;
  for (const double charge : own.m) exact.push_back(-1.747564594633182 * charge);
  const Vectors cell{{{kSide, 0, 0}, {0, kSide, 0}, {0, 0, kSide}}};
  EXPECT_LE(error_of_all(sizes_of_terms(kTotal, cell, own, all), mine.columns["pot"], exact), 1.2e-5);
  // The charges cancel, and all ranks have the same total.
  double least = mine.columns["energy"][0], most = least;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(least, most);
  EXPECT_NEAR(least, 0, 1e-5 * size_of_terms(kTotal, cell, all.x.data(), all) * double(all.count()));
}

// Particles cross borders and go to other ranks, the cell breathes, and then it changes much.
TEST_F(RanksPeriodic, OfParticlesThatMoveInACellThatChanges) {
  const std::int64_t count = 1200, begin = first_of(count, rank, 1), end = first_of(count, rank + 1, 1);
  Particles all = particles(count, 11, kCube, true), own = all.part(begin, end);
  const nbcc::Pipeline pipeline = compiled(kTotal.text, NBCC_SINGLE), exact = compiled(kTotal.text);
  Reals pot(own.m.size()), exact_pot(own.m.size()), energy(1), exact_energy(1);
  nbcc::Sum mine(pipeline), whole(exact);
  mine.bind("xi", own.x).bind("xj", own.x).bind("mj", own.m).bind("pot", pot).bind("energy", energy);
  whole.bind("xi", own.x).bind("xj", all.x).bind("mj", all.m).bind("pot", exact_pot).bind("energy", exact_energy);
  whole.offsets(begin, 0);
  whole.tolerance(0.1 * kTolerance);
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.get(), kTolerance, &choice, nullptr), NBCC_OK);
  for (const double side : {1.0, 1.0, 1.003, 1.003, 0.8, 0.8}) {
    const Vectors cell{{{side, 0, 0}, {0, side, 0}, {0, 0, 1 / side}}};
    for (nbcc::Sum* one : {&mine, &whole}) set_cell(*one, cell);
    ring.run(mine);
    whole.run();
    EXPECT_LE(error_of_all(sizes_of_terms(kTotal, cell, own, all), pot, exact_pot), 1.3 * kTolerance) << side;
    expect_own_j(mine, "moving");
    MPI_Allreduce(MPI_IN_PLACE, exact_energy.data(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double terms = size_of_terms(kTotal, cell, all.x.data(), all) * double(count);
    EXPECT_NEAR(energy[0], exact_energy[0], 1e-4 * terms) << side;
    for (std::size_t k = 0; k < all.x.size(); ++k) all.x[k] += 0.3 * std::sin(double(k % 97) + 10 * side);
    std::copy_n(all.x.begin() + 3 * begin, own.x.size(), own.x.begin());
  }
}

// A slab that grows: its cell is that of the extents of all.
TEST_F(RanksPeriodic, OfASlabThatGrows) {
  const std::int64_t count = 1600, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  Particles all = particles(count, 12, kSlab, true), own = all.part(begin, end);
  const nbcc::Pipeline pipeline = compiled(kCoulomb.text, NBCC_SINGLE), exact = compiled(kCoulomb.text);
  Reals pot(own.m.size()), exact_pot(own.m.size());
  nbcc::Sum mine(pipeline), whole(exact);
  mine.bind("xi", own.x).bind("xj", own.x).bind("mj", own.m).bind("pot", pot);
  whole.bind("xi", own.x).bind("xj", all.x).bind("mj", all.m).bind("pot", exact_pot);
  whole.offsets(begin, 0);
  for (nbcc::Sum* one : {&mine, &whole}) set_cell(*one, kSlab);
  whole.tolerance(0.1 * kTolerance);
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.get(), kTolerance, &choice, nullptr), NBCC_OK);
  for (int times = 0; times < 4; ++times) {
    ring.run(mine);
    whole.run();
    EXPECT_LE(error_of_all(sizes_of_terms(kCoulomb, kSlab, own, all), pot, exact_pot), 1.3 * kTolerance) << times;
    expect_own_j(mine, "growing");
    for (std::size_t k = 2; k < all.x.size(); k += 3) all.x[k] *= 1.2;
    std::copy_n(all.x.begin() + 3 * begin, own.x.size(), own.x.begin());
  }
}

// The weights of all must be neutral, not those of a rank: all ranks have the same error, or none has one.
TEST_F(RanksPeriodic, AsksForNeutralWeightsOfAll) {
  const std::string text = text_of("pot += mj / (r * r * r);");
  const std::int64_t count = 1200, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  for (const bool is_neutral : {true, false}) {
    Particles all = particles(count, 13, kCube, true);
    std::ranges::sort(all.m);  // no rank is neutral
    if (!is_neutral) all.m.back() = 1.5;
    const nbcc::Pipeline pipeline = compiled(text, NBCC_SINGLE);
    Bound mine(pipeline, all.part(begin, end), all.part(begin, end));
    set_cell(mine.sum, kCube);
    const nbcc_far_choice choice{sizeof choice, 5, 0, 0};
    ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kTolerance, &choice, nullptr), NBCC_OK);
    std::string message = "no error";
    try {
      ring.run(mine.sum);
    } catch (const nbcc::Error& e) {
      EXPECT_EQ(e.status(), NBCC_ERROR_USAGE);
      message = e.what();
    }
    if (is_neutral)
      EXPECT_EQ(message, "no error");
    else
      EXPECT_THAT(message, HasSubstr("the sum of mj is 0.5, of magnitudes 1.2e+03"));
  }
}

// Exact sums of a sample by fewer near images, beyond some 10^8 pairs; the measured error is that of some other i.
TEST_F(RanksPeriodic, OfManyParticlesARankHasAPart) {
  const std::int64_t count = 20000, begin = first_of(count, rank, 0), end = first_of(count, rank + 1, 0);
  const Particles all = particles(count, 14, kCube, true), own = all.part(begin, end);
  const nbcc::Pipeline pipeline = compiled(kCoulomb.text, NBCC_SINGLE), exact = compiled(kCoulomb.text);
  const Particles some = own.part(0, 24);
  Bound mine(pipeline, own, own), whole(exact, some, all);
  for (Bound* one : {&whole, &mine}) set_cell(one->sum, kCube);
  whole.sum.offsets(begin, 0);
  whole.sum.tolerance(1e-7);
  whole.sum.run();
  const nbcc_far_choice choice{sizeof choice, 4, 0, 0};
  ASSERT_EQ(nbcc_sum_set_tolerance(mine.sum.get(), kTolerance, &choice, nullptr), NBCC_OK);
  ring.run(mine.sum);
  const nbcc_statistics found = mine.sum.statistics();
  EXPECT_LE(found.error, kTolerance);
  Reals got = mine.columns["pot"];
  got.resize(some.m.size());
  Reals sizes;
  for (std::size_t k = 0; k < some.m.size(); ++k) sizes.push_back(size_of_terms(kCoulomb, kCube, &some.x[3 * k], all));
  const double error = error_of_all(sizes, got, whole.columns["pot"]);
  EXPECT_LT(found.error, 2.2 * error);
  EXPECT_GT(found.error, error / 2.2);
  if (rank_count() == 1) return;
  const std::string reason = found.reason;
  long long of_domain = 0, received = 0;
  const std::size_t at = reason.find("this one ");
  ASSERT_NE(at, std::string::npos) << reason;
  ASSERT_EQ(std::sscanf(reason.c_str() + at, "this one %lld of its domain and %lld of others", &of_domain, &received),
            2);
  EXPECT_LT(received, 0.95 * double(count - of_domain)) << reason;
}

}  // namespace
}  // namespace nbcc::test::ranks
