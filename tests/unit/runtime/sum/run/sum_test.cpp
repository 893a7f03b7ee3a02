#include "runtime/sum/run/sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "runtime/cpu/cpu_device.h"
#include "runtime/error.h"
#include "tests/support/fake_toolchain.h"

namespace nbcc {
namespace {

using test::fake_source;

std::shared_ptr<const Kernel> kernel(int threads = 1, const KernelSource& source = fake_source()) {
  CpuDevice device(threads, detect_isa(), std::make_shared<test::FakeToolchain>(), "", "");
  return device.load(source);
}

template <typename T>
ArrayView view(std::vector<T>& values, int components = 1) {
  constexpr Element element = std::is_same_v<T, float>    ? Element::Float
                              : std::is_same_v<T, double> ? Element::Double
                              : sizeof(T) == 4            ? Element::Int32
                                                          : Element::Int64;
  const std::int64_t bytes = sizeof(T);
  return {values.data(), element, std::int64_t(values.size()) / components, bytes * components, bytes};
}

struct Sets {
  Sets(std::int64_t ni, std::int64_t nj) {
    std::mt19937_64 random(std::uint64_t(ni * 1000 + nj));
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::int64_t k = 0; k < 3 * ni; ++k) xi.push_back(uniform(random));
    for (std::int64_t k = 0; k < 3 * nj; ++k) xj.push_back(uniform(random));
    for (std::int64_t k = 0; k < nj; ++k) mj.push_back(float(2 + uniform(random)));
  }
  std::vector<double> xi, xj;
  std::vector<float> mj;
};

struct Results {
  explicit Results(std::int64_t ni)
      : acc(3 * std::size_t(ni), -9), pot(std::size_t(ni), -9), seen(pot), near(std::size_t(ni), -9) {}
  bool operator==(const Results&) const = default;  // bitwise for the numbers that occur here
  std::vector<double> acc, pot, seen;
  std::vector<std::int64_t> near;
};

void bind(SumState& sum, Sets& sets, Results& results) {
  const double eps2 = 0.01;
  sum.set_param("eps2", std::span(&eps2, 1));
  sum.bind("xi", view(sets.xi, 3));
  sum.bind("xj", view(sets.xj, 3));
  sum.bind("mj", view(sets.mj));
  sum.bind("acc", view(results.acc, 3));
  sum.bind("pot", view(results.pot));
  sum.bind("near", view(results.near));
  sum.bind("seen", view(results.seen));
}

Results sum_of(Sets& sets, int threads = 1, const RunChoice& choice = {}, const KernelSource& source = fake_source()) {
  Results results(std::int64_t(sets.xi.size() / 3));
  SumState sum(kernel(threads, source));
  bind(sum, sets, results);
  sum.run(choice);
  return results;
}

void expect_right(const Sets& sets, const Results& results, std::int64_t i) {
  const double* const x = &sets.xi[std::size_t(3 * i)];
  double acc[3] = {}, pot = 0, nearest = std::numeric_limits<double>::infinity();
  std::int64_t near = -1;
  for (std::size_t j = 0; j < sets.mj.size(); ++j) {
    double d[3], r2 = 0;
    for (std::size_t c = 0; c < 3; ++c) d[c] = sets.xj[3 * j + c] - x[c], r2 += d[c] * d[c];
    if (std::int64_t(j) != i && r2 < nearest) nearest = r2, near = std::int64_t(j);
    r2 += 0.01;
    for (std::size_t c = 0; c < 3; ++c) acc[c] += sets.mj[j] / r2 / std::sqrt(r2) * d[c];
    pot -= sets.mj[j] / std::sqrt(r2);
  }
  const double tolerance = 1e-13 * std::abs(pot) / 0.01;
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(results.acc[std::size_t(3 * i) + c], acc[c], tolerance);
  EXPECT_NEAR(results.pot[std::size_t(i)], pot, tolerance);
  EXPECT_EQ(results.near[std::size_t(i)], near);
  EXPECT_EQ(results.seen[std::size_t(i)], sets.mj.empty() ? -std::numeric_limits<double>::infinity() : double(i));
}

TEST(Sum, IsRightForAllSizes) {
  for (const std::int64_t ni : {0, 1, 2, 15, 16, 17, 63, 64, 65, 200}) {
    for (const std::int64_t nj : {0, 1, 31, 32, 33, 255, 256, 257, 1000}) {
      Sets sets(ni, nj);
      const Results results = sum_of(sets, 2);
      for (std::int64_t i = 0; i < ni; ++i) expect_right(sets, results, i);
    }
  }
  EXPECT_EQ(test::contract_violations(), 0);
}

TEST(Sum, IsRightWithTilesOfOneThousand) {
  Sets sets(100, 20'000);
  const Results results = sum_of(sets, 2, {}, fake_source(1024));
  for (const std::int64_t i : {0, 50, 99}) expect_right(sets, results, i);
}

TEST(Sum, DoesNotDependOnThreads) {
  // Few blocks (segments are shared out), many blocks, and one block that has to be cut.
  for (const auto& [ni, nj] : {std::pair(100, 5000), std::pair(3000, 300), std::pair(40, 1000), std::pair(64, 200)}) {
    Sets sets(ni, nj);
    const Results one = sum_of(sets, 1);
    for (const int threads : {2, 3, 7}) EXPECT_EQ(sum_of(sets, threads), one) << ni << " " << nj << " " << threads;
  }
  EXPECT_EQ(test::contract_violations(), 0);
}

TEST(Sum, SubsetsGiveTheSameBits) {
  constexpr std::int64_t n = 500;
  Sets sets(n, 900);
  const Results all = sum_of(sets, 2);
  std::vector<std::int64_t> list(n);
  std::iota(list.begin(), list.end(), 0);
  std::shuffle(list.begin(), list.end(), std::mt19937(1));
  list.resize(200);
  const std::vector<std::int64_t> shifted{5, 6, 7, 8, 9, 100, 102, 103, 499, 0};
  KernelSource no_index = fake_source();
  no_index.uses.i_index = false;  // `near` and `seen` have no meaning then
  const auto expect_same = [&](const Results& part, const std::vector<std::int64_t>& chosen, bool indices) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::size_t k = std::size_t(i);
      const bool in = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
      EXPECT_EQ(part.pot[k], in ? all.pot[k] : -9);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(part.acc[3 * k + c], in ? all.acc[3 * k + c] : -9);
      if (!indices) continue;
      EXPECT_EQ(part.near[k], in ? all.near[k] : -9);
      EXPECT_EQ(part.seen[k], in ? all.seen[k] : -9);
    }
  };
  for (const std::vector<std::int64_t>& chosen : {list, shifted}) {
    const RunChoice choice{0, std::int64_t(chosen.size()), chosen.data(), false};
    expect_same(sum_of(sets, 2, choice), chosen, true);
    expect_same(sum_of(sets, 2, choice, no_index), chosen, false);
  }
  std::vector<std::int64_t> range(37);
  std::iota(range.begin(), range.end(), 123);
  expect_same(sum_of(sets, 2, {123, 37}), range, true);
  EXPECT_EQ(test::contract_violations(), 0);
}

TEST(Sum, EmptyChoiceDoesNothing) {
  Sets sets(10, 10);
  const std::int64_t none = 0;
  EXPECT_EQ(sum_of(sets, 1, {0, 0, &none, false}), Results(10));
  EXPECT_EQ(sum_of(sets, 1, {10, -1}), Results(10));
}

TEST(Sum, EmptySetOfJGivesIdentities) {
  Sets sets(3, 0);
  const Results results = sum_of(sets);
  EXPECT_EQ(results.acc, std::vector<double>(9, 0.0));
  EXPECT_EQ(results.pot, std::vector<double>(3, -0.0));
  EXPECT_EQ(results.near, std::vector<std::int64_t>(3, -1));
  EXPECT_EQ(results.seen, std::vector<double>(3, -std::numeric_limits<double>::infinity()));
}

TEST(Sum, OffsetsAreAddedToIndices) {
  Sets sets(5, 40);
  Results results(5);
  SumState sum(kernel());
  bind(sum, sets, results);
  sum.set_offsets(1000, 1ll << 40);
  sum.run({2, 3});
  EXPECT_EQ(results.seen, (std::vector<double>{-9, -9, 1002, 1003, 1004}));
  EXPECT_GE(results.near[2], 1ll << 40);
  EXPECT_LT(results.near[2], (1ll << 40) + 40);
}

TEST(Sum, LowestJWinsTiesAcrossSegments) {
  Sets sets(1, 2000);
  for (std::size_t j = 0; j < 2000; ++j) std::fill_n(&sets.xj[3 * j], 3, j == 700 || j == 1900 ? 0.25 : 5.0);
  std::fill_n(sets.xi.begin(), 3, 0.0);
  for (const int threads : {1, 2}) EXPECT_EQ(sum_of(sets, threads).near[0], 700);
}

TEST(Sum, AccumulateCombinesByReduction) {
  Sets sets(20, 50);
  const Results once = sum_of(sets);
  Results results(20);
  std::fill(results.seen.begin(), results.seen.end(), 10.0);
  SumState sum(kernel());
  bind(sum, sets, results);
  sum.ignore("near");
  sum.run({0, -1, nullptr, true});
  for (std::size_t k = 0; k < 20; ++k) {
    EXPECT_EQ(results.pot[k], -9 + once.pot[k]);
    EXPECT_EQ(results.seen[k], std::max(10.0, double(k)));
  }
}

TEST(Sum, ReadsAndWritesArraysOfStructs) {
  struct Particle {
    float m;
    double x[3];
    float pot;
    float acc[3];
  };
  Sets sets(300, 300);
  sets.xi = sets.xj;
  std::vector<Particle> particles(300);
  for (std::size_t k = 0; k < 300; ++k) {
    particles[k].m = sets.mj[k];
    std::copy_n(&sets.xj[3 * k], 3, particles[k].x);
  }
  const std::int64_t stride = sizeof(Particle);
  SumState sum(kernel(2));
  const double eps2 = 0.01;
  sum.set_param("eps2", std::span(&eps2, 1));
  sum.bind("xi", {particles[0].x, Element::Double, 300, stride, 8});
  sum.bind("xj", {particles[0].x, Element::Double, 300, stride, 8});
  sum.bind("mj", {&particles[0].m, Element::Float, 300, stride, 4});
  sum.bind("acc", {particles[0].acc, Element::Float, 300, stride, 4});
  sum.bind("pot", {&particles[0].pot, Element::Float, 300, stride, 4});
  sum.ignore("near");
  sum.ignore("seen");
  sum.run();
  const Results expected = sum_of(sets);
  for (std::size_t k = 0; k < 300; ++k) {
    EXPECT_EQ(particles[k].pot, float(expected.pot[k]));
    EXPECT_EQ(particles[k].acc[2], float(expected.acc[3 * k + 2]));
    EXPECT_EQ(particles[k].x[0], sets.xj[3 * k]);
  }
}

TEST(Sum, OutputsMayBeTheInputs) {
  Sets sets(500, 64), copy = sets;
  Results expected = sum_of(sets), results(500);
  SumState sum(kernel(2));
  bind(sum, copy, results);
  sum.bind("acc", view(copy.xi, 3));
  sum.run();
  EXPECT_EQ(copy.xi, expected.acc);
}

// More i than one thread has in a batch, read from one array and written one place further along it.
TEST(Sum, OutputsMayOverlapOtherParticlesInputs) {
  constexpr std::int64_t n = 100'000;
  std::vector<double> shared(std::size_t(3 * n + 3));
  for (std::size_t k = 0; k < shared.size(); ++k) shared[k] = double(k % 1000) / 1000;
  Sets sets(0, 1);
  sets.xi.assign(shared.begin(), shared.end() - 3);
  const Results apart = sum_of(sets);
  Results results(n);
  SumState sum(kernel());
  bind(sum, sets, results);
  sum.bind("xi", {shared.data(), Element::Double, n, 24, 8});
  sum.bind("acc", {shared.data() + 3, Element::Double, n, 24, 8});
  sum.run();
  EXPECT_TRUE(std::equal(apart.acc.begin(), apart.acc.end(), shared.begin() + 3));
  EXPECT_EQ(apart.seen.back(), double(n - 1));
}

TEST(Sum, KeepsJUntilToldOtherwise) {
  Sets sets(4, 100);
  Results results(4);
  SumState sum(kernel());
  bind(sum, sets, results);
  sum.keep_j(true);
  sum.run();
  const Results before = results;
  for (float& m : sets.mj) m *= 2;
  sum.run();
  EXPECT_EQ(results, before);
  sum.j_changed();
  sum.run();
  EXPECT_EQ(results.pot[1], 2 * before.pot[1]);
  sum.keep_j(false);
  for (float& m : sets.mj) m *= 2;
  sum.run();
  EXPECT_EQ(results.pot[1], 4 * before.pot[1]);
}

TEST(Sum, KeptJFollowsParamsAndBinding) {
  Sets sets(4, 100);
  Results results(4);
  SumState sum(kernel());
  bind(sum, sets, results);
  sum.keep_j(true);
  sum.run();
  const Results before = results;
  const double g = 2;
  sum.set_param("g", std::span(&g, 1));
  sum.run();
  EXPECT_EQ(results.pot[1], 2 * before.pot[1]);
  std::vector<float> heavier(sets.mj);
  for (float& m : heavier) m *= 2;
  sum.bind("mj", view(heavier));
  sum.run();
  EXPECT_EQ(results.pot[1], 4 * before.pot[1]);
}

TEST(Sum, CountsComeFromTheCallerWhereNoFieldTells) {
  KernelSource source = fake_source();
  source.fields = {source.fields[0], source.fields[3], source.fields[8]};
  source.columns.j.clear();
  SumState sum(kernel(1, source));
  const double eps2 = 1;
  sum.set_param("eps2", std::span(&eps2, 1));
  std::vector<double> xi(9), seen(3);
  sum.bind("xi", view(xi, 3));
  sum.bind("seen", view(seen));
  try {
    sum.run();
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(), "pipeline 'fake': no bound field gives the number of j-particles: set the counts");
  }
  sum.set_counts(77, 0);  // ni follows from the view
  sum.run();
  EXPECT_EQ(seen, std::vector<double>(3, -std::numeric_limits<double>::infinity()));
}

// A double that is no value of the param's type would become another number.
TEST(Sum, ParamsOfWholeNumbersAreWhole) {
  const auto message = [](Type type, double value) -> std::string {
    KernelSource source = fake_source();
    source.fields[4].type = type;
    SumState sum(kernel(1, source));
    try {
      sum.set_param("g", {&value, 1});
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  const std::string param = "param 'g' of pipeline 'fake' is ";
  const std::string of_int = param + "an int: it must be a whole number from -2147483648 to 2147483647, got ";
  EXPECT_EQ(message(Type::Int, 2147483648), of_int + "2147483648");
  EXPECT_EQ(message(Type::Int, 2.5), of_int + "2.5");
  EXPECT_EQ(message(Type::Int, 1e10), of_int + "10000000000");
  EXPECT_EQ(message(Type::Int, std::numeric_limits<double>::quiet_NaN()), of_int + "nan");
  EXPECT_EQ(message(Type::Index, 0x1p53),
            param +
                "an index: it must be a whole number from -9007199254740991 to 9007199254740991, got "
                "9007199254740992");
  EXPECT_EQ(message(Type::Bool, 2), param + "a bool: it must be 0 or 1, got 2");
  for (const double good : {-2147483648.0, 0.0, 2147483647.0}) EXPECT_EQ(message(Type::Int, good), "");
  EXPECT_EQ(message(Type::Index, 0x1p53 - 1), "");
  EXPECT_EQ(message(Type::Bool, 1), "");
  EXPECT_EQ(message(Type::Real, 2.5), "");
}

TEST(Sum, ColumnWithoutAFieldIsOurMistake) {
  KernelSource source = fake_source();
  source.columns.j[0].component = 17;
  EXPECT_THROW(SumState{kernel(1, source)}, std::logic_error);
}

// Each mistake with its whole message.
class SumErrors : public testing::Test {
 protected:
  SumErrors() : sets(10, 20), results(10), sum(kernel()) { bind(sum, sets, results); }
  template <typename Call>
  std::string message(Call call) {
    const Results before = results;
    try {
      call();
    } catch (const UsageError& e) {
      EXPECT_EQ(results, before);
      return e.what();
    }
    return "no error";
  }
  std::string run_message(const RunChoice& choice = {}) {
    return message([&] { sum.run(choice); });
  }
  Sets sets;
  Results results;
  SumState sum;
};

TEST_F(SumErrors, UnknownField) {
  EXPECT_EQ(message([&] { sum.bind("xk", view(sets.xi, 3)); }),
            "pipeline 'fake' has no field 'xk'; its fields are xi, xj, mj, eps2, g, acc, pot, near, seen");
}

TEST_F(SumErrors, UnboundField) {
  SumState fresh(kernel());
  EXPECT_EQ(message([&] { fresh.run(); }), "input_i 'xi' of pipeline 'fake' is not bound to an array");
}

TEST_F(SumErrors, CountsThatDiffer) {
  std::vector<double> pot(9);
  sum.bind("pot", view(pot));
  EXPECT_EQ(run_message(),
            "output 'pot' of pipeline 'fake' has 9 particles, but input_i 'xi' of pipeline 'fake' has 10: all i-fields "
            "must have the same count");
}

TEST_F(SumErrors, Params) {
  const double values[] = {1, 2};
  EXPECT_EQ(message([&] { sum.set_param("eps2", values); }), "param 'eps2' of pipeline 'fake' takes 1 value, got 2");
  EXPECT_EQ(message([&] { sum.set_param("xi", values); }),
            "input_i 'xi' of pipeline 'fake' is not a param: bind an array to it");
  EXPECT_EQ(message([&] { sum.bind("g", view(sets.mj)); }), "param 'g' of pipeline 'fake' takes values, not an array");
  SumState fresh(kernel());
  for (const char* name : {"xi", "xj", "acc"}) fresh.bind(name, view(sets.xi, 3));
  for (const char* name : {"mj", "pot", "near", "seen"}) fresh.bind(name, view(results.pot));
  EXPECT_EQ(message([&] { fresh.run(); }), "param 'eps2' of pipeline 'fake' has no default and was not set");
}

TEST_F(SumErrors, Views) {
  EXPECT_EQ(message([&] { sum.bind("mj", {nullptr, Element::Float, 20, 4, 4}); }),
            "input_j 'mj' of pipeline 'fake': no data (a null pointer) for 20 particles");
  EXPECT_EQ(message([&] { sum.bind("mj", {sets.mj.data(), Element::Float, -1, 4, 4}); }),
            "input_j 'mj' of pipeline 'fake': its count must be 0 or more, got -1");
  EXPECT_EQ(message([&] { sum.bind("xi", {sets.xi.data(), Element::Double, 10, 24, 0}); }),
            "input_i 'xi' of pipeline 'fake': component_stride is 0, but the field has 3 components");
  EXPECT_EQ(message([&] { sum.bind("pot", {results.pot.data(), Element::Double, 10, 0, 0}); }),
            "output 'pot' of pipeline 'fake': an output for 10 particles cannot have a stride of 0");
  EXPECT_EQ(message([&] { sum.ignore("xi"); }), "input_i 'xi' of pipeline 'fake' cannot be ignored: only outputs can");
  EXPECT_EQ(message([&] { sum.set_counts(-1, 3); }), "counts must be 0 or more, got ni = -1 and nj = 3");
}

// Bytes of so many would not be counted in 64 bits.
TEST_F(SumErrors, CountsBeyondAllMemory) {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  const std::int64_t list[] = {0};
  EXPECT_THROW(sum.run({0, all, list, false}), std::bad_alloc);
  sum.bind("xj", {sets.xj.data(), Element::Double, all, 0, 8});
  sum.bind("mj", {sets.mj.data(), Element::Float, all, 0, 4});
  EXPECT_THROW(sum.run(), std::bad_alloc);
}

TEST_F(SumErrors, Choices) {
  const std::int64_t list[] = {0, 10}, negative[] = {-1};
  EXPECT_EQ(run_message({0, 2, list, false}), "i_list[1] is 10, but there are 10 i-particles");
  EXPECT_EQ(run_message({0, 1, negative, false}), "i_list[0] is -1, but there are 10 i-particles");
  EXPECT_EQ(run_message({0, -1, list, false}), "i_list: its i_count must be 0 or more, got -1");
  const std::int64_t twice[] = {7, 2, 3, 2}, last_twice[] = {1, 2, 2}, once[] = {9, 0, 5};
  EXPECT_EQ(run_message({0, 4, twice, false}), "i_list[3] is 2, as i_list[1] is: an i-particle may be chosen once");
  EXPECT_EQ(run_message({0, 4, twice, true}), "i_list[3] is 2, as i_list[1] is: an i-particle may be chosen once");
  EXPECT_EQ(run_message({0, 3, last_twice, false}),
            "i_list[2] is 2, as i_list[1] is: an i-particle may be chosen once");
  EXPECT_EQ(run_message({0, 3, once, false}), "no error");
  EXPECT_EQ(run_message({8, 3}), "the range of 3 i-particles from 8 on does not fit into 10 i-particles");
  EXPECT_EQ(run_message({11, -1}), "the range of all i from 11 on does not fit into 10 i-particles");
  EXPECT_EQ(run_message({-1, 1}), "the range of 1 i-particle from -1 on does not fit into 10 i-particles");
}

TEST_F(SumErrors, AccumulatedIndex) {
  EXPECT_EQ(
      run_message({0, -1, nullptr, true}),
      "output 'near' of pipeline 'fake' is an argmin and cannot be accumulated: the index alone does not give its "
      "value");
}

// As GPUs are, of kernels whose texts have no functions to search with: what is proved is said, and that it does not
// help.
TEST(Sum, NeighboursThatADeviceCannotSearchForAreNotCalledUnproved) {
  KernelSource source = fake_source();
  const auto complaint = [&source] {
    SumState sum(kernel(1, source));
    try {
      sum.set_pairs(PairChoice::Cutoff);
    } catch (const UsageError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  source.search.bound.clear();
  EXPECT_NE(complaint().find("it is not proved"), std::string::npos) << complaint();
  source.search.bound = "|xj - xi| < rc in the periodic cell `a`, `b`, `c`";
  EXPECT_EQ(complaint(), "pairs = cutoff: pipeline 'fake' has neighbours, " + source.search.bound +
                             ", but this device does not search for them");
}

}  // namespace
}  // namespace nbcc
