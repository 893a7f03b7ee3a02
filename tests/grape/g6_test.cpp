// The C names of GRAPE-6's interface, against direct sums in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "bindings/grape/nbcc_g6.h"
#include "tests/grape/variable.h"

namespace nbcc {
namespace {

using Vec3 = std::array<double, 3>;

struct Body {
  int index;
  double time, mass;
  Vec3 k18, j6, a2, v, x;
};

struct Force {
  Vec3 acc{}, jerk{};
  double pot = 0;
  int nearest = -1;
};

std::vector<Body> bodies(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto vec3 = [&] { return Vec3{uniform(random), uniform(random), uniform(random)}; };
  std::vector<Body> all;
  // Indices are names: neither addresses nor in order.
  for (int k = 0; k < count; ++k) {
    all.push_back({1000 - 3 * k, 0.25 + 0.01 * (k % 7), 1.0 / count, vec3(), vec3(), vec3(), vec3(), vec3()});
  }
  return all;
}

Vec3 position(const Body& b, double t) {
  const double dt = t - b.time;
  Vec3 at{};
  for (std::size_t c = 0; c < 3; ++c) {
    at[c] = b.x[c] + b.v[c] * dt + b.a2[c] * dt * dt + b.j6[c] * std::pow(dt, 3) + 18 * b.k18[c] / 24 * std::pow(dt, 4);
  }
  return at;
}

Vec3 velocity(const Body& b, double t) {
  const double dt = t - b.time;
  Vec3 at{};
  for (std::size_t c = 0; c < 3; ++c) {
    at[c] = b.v[c] + 2 * b.a2[c] * dt + 6 * b.j6[c] / 2 * dt * dt + 18 * b.k18[c] / 6 * std::pow(dt, 3);
  }
  return at;
}

double square(const Vec3& a, const Vec3& b) {
  return std::pow(a[0] - b[0], 2) + std::pow(a[1] - b[1], 2) + std::pow(a[2] - b[2], 2);
}

Force direct(const std::vector<Body>& all, int index, const Vec3& x, const Vec3& v, double t, double eps2) {
  Force force;
  double nearest = std::numeric_limits<double>::infinity();
  for (const Body& b : all) {
    if (b.index == index) continue;
    const Vec3 xj = position(b, t), vj = velocity(b, t);
    const double d2 = square(xj, x), r2 = d2 + eps2, r = std::sqrt(r2);
    if (d2 < nearest) {
      nearest = d2;
      force.nearest = b.index;
    }
    double rv = 0;
    for (std::size_t c = 0; c < 3; ++c) rv += (xj[c] - x[c]) * (vj[c] - v[c]);
    for (std::size_t c = 0; c < 3; ++c) {
      force.acc[c] += b.mass * (xj[c] - x[c]) / (r2 * r);
      force.jerk[c] += b.mass * ((vj[c] - v[c]) / (r2 * r) - 3 * rv * (xj[c] - x[c]) / (r2 * r2 * r));
    }
    force.pot -= b.mass / r;
  }
  return force;
}

// The arrays of a caller.
struct Block {
  std::vector<int> index, nearest;
  std::vector<Vec3> x, v, acc, jerk;
  std::vector<double> pot, h2;

  explicit Block(std::size_t n) : index(n), nearest(n), x(n), v(n), acc(n), jerk(n), pot(n), h2(n) {}
  int ni() const { return int(index.size()); }
  void first(int id, int nj, double eps2) {
    g6calc_firsthalf(id, nj, ni(), index.data(), rows(x), rows(v), rows(acc), rows(jerk), pot.data(), eps2, h2.data());
  }
  int last(int id, int nj, double eps2) {
    return g6calc_lasthalf2(id, nj, ni(), index.data(), rows(x), rows(v), eps2, h2.data(), rows(acc), rows(jerk),
                            pot.data(), nearest.data());
  }

 private:
  static double (*rows(std::vector<Vec3>& array))[3] { return reinterpret_cast<double(*)[3]>(array.data()); }
};

Block block_of(const std::vector<Body>& all, double t) {
  Block block(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    block.index[k] = all[k].index;
    block.x[k] = position(all[k], t);
    block.v[k] = velocity(all[k], t);
    block.h2[k] = 0.09 + 0.001 * double(k);
  }
  return block;
}

void load(int id, const std::vector<Body>& all) {
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Body& b = all[k];
    ASSERT_EQ(g6_set_j_particle(id, int(k), b.index, b.time, 0.125, b.mass, b.k18.data(), b.j6.data(), b.a2.data(),
                                b.v.data(), b.x.data()),
              0)
        << nbcc_g6_last_error();
  }
}

void expect_close(const Vec3& got, const Vec3& expected, double tolerance, const char* what, std::size_t k) {
  EXPECT_LE(std::sqrt(square(got, expected)), tolerance * std::sqrt(square(expected, {}))) << what << " of " << k;
}

void expect_forces(const Block& block, const std::vector<Body>& all, double t, double eps2, double tolerance) {
  for (std::size_t k = 0; k < block.index.size(); ++k) {
    const Force force = direct(all, block.index[k], block.x[k], block.v[k], t, eps2);
    expect_close(block.acc[k], force.acc, tolerance, "acc", k);
    expect_close(block.jerk[k], force.jerk, tolerance, "jerk", k);
    EXPECT_NEAR(block.pot[k], force.pot, tolerance * std::abs(force.pot)) << k;
    EXPECT_EQ(block.nearest[k], force.nearest) << k;
  }
}

// An open cluster, with an environment as it is while it opens.
class Opened {
 public:
  explicit Opened(int id, const char* precision = "double") : id_(id) {
    setenv("NBCC_PRECISION", precision, 1);
    EXPECT_EQ(g6_open(id), 0) << nbcc_g6_last_error();
    unsetenv("NBCC_PRECISION");
  }
  ~Opened() { g6_close(id_); }
  operator int() const { return id_; }

 private:
  int id_;
};

TEST(g6, forces_and_nearest_are_those_of_predicted_particles) {
  const std::vector<Body> all = bodies(150, 1);
  const Opened id(0);
  load(id, all);
  for (const double t : {0.25, 0.5}) {
    ASSERT_EQ(g6_set_ti(id, t), 0);
    Block block = block_of(all, t);
    block.first(id, 150, 1e-4);
    ASSERT_EQ(block.last(id, 150, 1e-4), 0) << nbcc_g6_last_error();
    expect_forces(block, all, t, 1e-4, 1e-11);
  }
}

TEST(g6, mixed_precision_is_the_default) {
  const std::vector<Body> all = bodies(150, 2);
  ASSERT_EQ(g6_open(0), 0) << nbcc_g6_last_error();
  load(0, all);
  ASSERT_EQ(g6_set_ti(0, 0.5), 0);
  Block block = block_of(all, 0.5);
  block.first(0, 150, 1e-4);
  ASSERT_EQ(block.last(0, 150, 1e-4), 0) << nbcc_g6_last_error();
  expect_forces(block, all, 0.5, 1e-4, 1e-5);
  const Force exact = direct(all, block.index[0], block.x[0], block.v[0], 0.5, 1e-4);
  EXPECT_NE(block.acc[0], exact.acc);
  EXPECT_GT(std::sqrt(square(block.acc[0], exact.acc)), 1e-12) << "this was double precision";
  EXPECT_EQ(g6_close(0), 0);
}

TEST(g6, particles_are_excluded_by_index_and_not_by_position) {
  std::vector<Body> all = bodies(3, 3);
  for (Body& b : all) b = {b.index, 0, 1, {}, {}, {}, {}, {}};
  all[2].x = {2, 0, 0};
  const Opened id(0);
  load(id, all);
  ASSERT_EQ(g6_set_ti(id, 0), 0);
  Block block = block_of(all, 0);
  block.first(id, 3, 0);
  ASSERT_EQ(block.last(id, 3, 0), 0) << nbcc_g6_last_error();
  // The first two share a place: without softening they add nothing to each other.
  EXPECT_DOUBLE_EQ(block.acc[0][0], 0.25);
  EXPECT_DOUBLE_EQ(block.pot[0], -0.5);
  EXPECT_EQ(block.nearest[0], all[1].index);
  block.first(id, 3, 1);
  ASSERT_EQ(block.last(id, 3, 1), 0) << nbcc_g6_last_error();
  EXPECT_DOUBLE_EQ(block.pot[0], -1 - 1 / std::sqrt(5.0));
}

TEST(g6, a_particle_can_be_written_anew_between_sums_at_one_time) {
  std::vector<Body> all = bodies(40, 4);
  const Opened id(0);
  load(id, all);
  ASSERT_EQ(g6_set_ti(id, 0.4), 0);
  Block block = block_of(all, 0.4);
  block.first(id, 40, 1e-3);
  all[7].x = {0.1, 0.2, 0.3};
  all[7].mass = 5;
  load(id, all);  // while the sums may be under way: they are of what was there
  ASSERT_EQ(block.last(id, 40, 1e-3), 0) << nbcc_g6_last_error();
  expect_forces(block, bodies(40, 4), 0.4, 1e-3, 1e-11);
  block.first(id, 40, 1e-3);
  ASSERT_EQ(block.last(id, 40, 1e-3), 0) << nbcc_g6_last_error();
  expect_forces(block, all, 0.4, 1e-3, 1e-11);
  // Fewer j, then more of them.
  block.first(id, 20, 1e-3);
  ASSERT_EQ(block.last(id, 20, 1e-3), 0) << nbcc_g6_last_error();
  expect_forces(block, {all.begin(), all.begin() + 20}, 0.4, 1e-3, 1e-11);
  block.first(id, 33, 1e-3);
  ASSERT_EQ(block.last(id, 33, 1e-3), 0) << nbcc_g6_last_error();
  expect_forces(block, {all.begin(), all.begin() + 33}, 0.4, 1e-3, 1e-11);
}

std::vector<int> neighbours_of(const std::vector<Body>& all, const Block& block, std::size_t i, double t) {
  std::vector<int> list;
  for (const Body& b : all) {
    if (b.index != block.index[i] && square(position(b, t), block.x[i]) <= block.h2[i]) list.push_back(b.index);
  }
  std::ranges::sort(list);
  return list;
}

TEST(g6, neighbours_are_those_within_h_and_overflow_is_told) {
  std::vector<Body> all = bodies(200, 5);
  const Opened id(0);
  load(id, all);
  const double t = 0.3;
  ASSERT_EQ(g6_set_ti(id, t), 0);
  Block block = block_of(all, t);
  block.h2[0] = 0;
  block.h2[1] = 1e6;
  block.first(id, 200, 1e-4);
  ASSERT_EQ(block.last(id, 200, 1e-4), 0) << nbcc_g6_last_error();
  Body moved = all[100];
  moved.x = {9, 9, 9};
  load(id, {moved});  // too late for these lists
  ASSERT_EQ(g6_read_neighbour_list(id), 0) << nbcc_g6_last_error();
  std::vector<int> list(200);
  int count = -1;
  for (int i = 0; i < 200; ++i) {
    const std::vector<int> expected = neighbours_of(all, block, std::size_t(i), t);
    ASSERT_EQ(g6_get_neighbour_list(id, i, 200, &count, list.data()), 0);
    EXPECT_EQ(std::vector<int>(list.begin(), list.begin() + count), expected) << i;
  }
  ASSERT_EQ(g6_get_neighbour_list(id, 1, 199, &count, list.data()), 0) << "a list that just fits";
  EXPECT_EQ(count, 199);
  const std::vector<int> whole = neighbours_of(all, block, 1, t);
  std::fill(list.begin(), list.end(), -7);
  EXPECT_EQ(g6_get_neighbour_list(id, 1, 10, &count, list.data()), 1);
  EXPECT_EQ(count, 199);
  EXPECT_TRUE(std::equal(list.begin(), list.begin() + 10, whole.begin()));
  EXPECT_EQ(list[10], -7) << "nothing is written behind the caller's list";
  EXPECT_LT(g6_get_neighbour_list(id, 200, 10, &count, list.data()), 0);
}

TEST(g6, clusters_do_not_know_of_each_other) {
  const std::vector<Body> some = bodies(30, 6), others = bodies(50, 7);
  const Opened first(0), second(4);
  load(first, some);
  load(second, others);
  ASSERT_EQ(g6_set_ti(first, 0.3), 0);
  ASSERT_EQ(g6_set_ti(second, 0.4), 0);
  Block one = block_of(some, 0.3), other = block_of(others, 0.4);
  one.first(first, 30, 0.01);
  other.first(second, 50, 0.02);
  ASSERT_EQ(one.last(first, 30, 0.01), 0) << nbcc_g6_last_error();
  ASSERT_EQ(other.last(second, 50, 0.02), 0) << nbcc_g6_last_error();
  expect_forces(one, some, 0.3, 0.01, 1e-11);
  expect_forces(other, others, 0.4, 0.02, 1e-11);
}

TEST(g6, without_neighbours_there_is_no_nearest) {
  const std::vector<Body> all = bodies(1, 8);
  const Opened id(0);
  load(id, all);
  ASSERT_EQ(g6_set_ti(id, 0.3), 0);
  for (const int nj : {1, 0}) {
    Block block = block_of(all, 0.3);
    block.first(id, nj, 0.01);
    ASSERT_EQ(block.last(id, nj, 0.01), 0) << nbcc_g6_last_error();
    EXPECT_EQ(block.nearest[0], -1);
    EXPECT_EQ(block.acc[0], (Vec3{}));
  }
  Block empty(0);
  empty.first(id, 1, 0.01);
  EXPECT_EQ(empty.last(id, 1, 0.01), 0) << nbcc_g6_last_error();
}

TEST(g6, what_fails_is_told_and_gives_no_forces) {
  const std::vector<Body> all = bodies(4, 9);
  Block block = block_of(all, 0.3);
  const auto expect_failure = [&](int id, const std::string& message) {
    EXPECT_LT(block.last(id, 5, 0), 0);
    EXPECT_TRUE(std::string(nbcc_g6_last_error()).find(message) != std::string::npos) << nbcc_g6_last_error();
    EXPECT_TRUE(std::isnan(block.acc[3][2]) && std::isnan(block.jerk[3][2]) && std::isnan(block.pot[3]));
    EXPECT_EQ(block.nearest[3], -1);
  };
  block.first(5, 4, 0);
  expect_failure(5, "cluster 5 is not open");
  EXPECT_LT(g6_set_ti(5, 0), 0);
  EXPECT_LT(g6_open(-1), 0);
  const Opened id(5);
  EXPECT_EQ(g6_open(5), 0) << "it is open";
  expect_failure(5, "there is no calculation");
  load(id, all);
  block.first(5, 5, 0);
  expect_failure(5, "no j-particle was set at address 4");
  EXPECT_LT(g6_read_neighbour_list(5), 0);
  const Vec3 zero{};
  EXPECT_LT(g6_set_j_particle(5, -1, 1, 0, 0, 1, zero.data(), zero.data(), zero.data(), zero.data(), zero.data()), 0);
  Block three(3);
  block.first(5, 4, 0);
  EXPECT_LT(three.last(5, 4, 0), 0) << "three results of four";
  EXPECT_EQ(block.last(5, 4, 0), 0) << nbcc_g6_last_error();
  EXPECT_EQ(g6_reset(5), 0);
  expect_failure(5, "there is no calculation");
  block.first(5, 4, 0);
  EXPECT_EQ(block.last(5, 4, 0), 0) << "the j-particles are there still";
}

TEST(g6, null_pointers_and_negative_counts_are_refused) {
  const std::vector<Body> all = bodies(4, 10);
  const Opened id(0);
  load(id, all);
  ASSERT_EQ(g6_set_ti(id, 0.3), 0);
  Block block = block_of(all, 0.3);
  const auto x = reinterpret_cast<double(*)[3]>(block.x.data()), acc = reinterpret_cast<double(*)[3]>(block.acc.data());
  const int* const index = block.index.data();
  double* const pot = block.pot.data();
  const auto expect_failure = [&](int status, const std::string& message) {
    EXPECT_LT(status, 0);
    EXPECT_EQ(nbcc_g6_last_error(), message);
  };
  // What firsthalf refuses is told by lasthalf, which many programs alone look at.
  const auto start = [&](int ni, const int* i, const double(*at)[3], const double(*v)[3], const double* h2) {
    g6calc_firsthalf(id, 4, ni, i, at, v, nullptr, nullptr, nullptr, 0.01, h2);
    return block.last(id, 4, 0.01);
  };
  const double* const h2 = block.h2.data();
  EXPECT_EQ(start(4, index, x, x, h2), 0) << nbcc_g6_last_error();
  expect_failure(start(4, nullptr, x, x, h2), "index is a null pointer");
  expect_failure(start(4, index, nullptr, x, h2), "xi is a null pointer");
  expect_failure(start(4, index, x, nullptr, h2), "vi is a null pointer");
  expect_failure(start(4, index, x, x, nullptr), "h2 is a null pointer");
  EXPECT_TRUE(std::isnan(block.acc[3][2]) && std::isnan(block.jerk[0][0]) && std::isnan(block.pot[1]));
  expect_failure(start(-1, index, x, x, h2), "ni is -1");
  g6calc_firsthalf(id, -2, 4, index, x, x, nullptr, nullptr, nullptr, 0.01, h2);
  expect_failure(block.last(id, -2, 0.01), "nj is -2");
  EXPECT_EQ(start(4, index, x, x, h2), 0) << nbcc_g6_last_error();

  const auto last = [&](int ni, double(*a)[3], double(*j)[3], double* p) {
    return g6calc_lasthalf(id, 4, ni, index, x, x, 0.01, h2, a, j, p);
  };
  expect_failure(last(4, nullptr, acc, pot), "acc is a null pointer");
  expect_failure(last(4, acc, nullptr, pot), "jerk is a null pointer");
  expect_failure(last(4, acc, acc, nullptr), "pot is a null pointer");
  EXPECT_TRUE(std::isnan(block.acc[3][2]));
  expect_failure(last(-1, acc, acc, pot), "ni is -1");
  EXPECT_EQ(block.last(id, 4, 0.01), 0) << "the results are there still";

  int count = 0;
  expect_failure(g6_get_neighbour_list(id, 0, 4, nullptr, &count), "nblen is a null pointer");
  expect_failure(g6_get_neighbour_list(id, 0, 4, &count, nullptr), "nbl is a null pointer");
  const double* const v = x[0];
  expect_failure(g6_set_j_particle(id, 0, 1, 0, 0, 1, v, v, nullptr, v, v),
                 "a vector of the j-particle is a null pointer");
  expect_failure(g6_set_j_particle(id, 0, 1, 0, 0, 1, v, v, v, v, nullptr),
                 "a vector of the j-particle is a null pointer");
  EXPECT_EQ(start(4, index, x, x, h2), 0) << nbcc_g6_last_error();
}

TEST(g6, what_is_nan_disturbs_nothing_else) {
  const std::vector<Body> all = bodies(40, 12);
  const Opened id(0);
  load(id, all);
  ASSERT_EQ(g6_set_ti(id, 0.4), 0);
  const auto sum = [&](Block& block, int nj) {
    block.first(id, nj, 1e-3);
    ASSERT_EQ(block.last(id, nj, 1e-3), 0) << nbcc_g6_last_error();
  };
  Block expected = block_of(all, 0.4), block = block_of(all, 0.4);
  sum(expected, 40);
  block.x[17][0] = NAN;
  sum(block, 40);
  EXPECT_TRUE(std::isnan(block.acc[17][1]) && std::isnan(block.jerk[17][2]) && std::isnan(block.pot[17]));
  EXPECT_EQ(block.nearest[17], -1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 17) continue;
    EXPECT_EQ(block.acc[i], expected.acc[i]) << i;
    EXPECT_EQ(block.jerk[i], expected.jerk[i]) << i;
    EXPECT_EQ(block.nearest[i], expected.nearest[i]) << i;
  }
  // A j-particle that is nowhere is nobody's neighbour, and in every sum but its own.
  std::vector<Body> lost = all;
  lost[39].x[2] = NAN;
  load(id, lost);
  block = block_of(all, 0.4);
  sum(block, 40);
  for (std::size_t i = 0; i < 39; ++i) {
    EXPECT_TRUE(std::isnan(block.acc[i][2]) && std::isnan(block.pot[i])) << i;
    EXPECT_NE(block.nearest[i], all[39].index) << i;
    EXPECT_NE(block.nearest[i], -1) << i;
  }
  EXPECT_EQ(block.acc[39], expected.acc[39]);
  sum(block, 39);
  expect_forces(block, {all.begin(), all.begin() + 39}, 0.4, 1e-3, 1e-5);
}

TEST(g6, the_environment_names_device_precision_and_pipes) {
  unsetenv("NBCC_G6_PIPES");
  EXPECT_EQ(g6_npipes(), 48);
  setenv("NBCC_G6_PIPES", "256", 1);
  EXPECT_EQ(g6_npipes(), 256);
  setenv("NBCC_G6_PIPES", "many", 1);
  EXPECT_EQ(g6_npipes(), 48);
  unsetenv("NBCC_G6_PIPES");
  setenv("NBCC_PRECISION", "quadruple", 1);
  EXPECT_LT(g6_open(0), 0);
  unsetenv("NBCC_PRECISION");
  const test::Variable devices("NBCC_DEVICE", "cpu,abacus");
  EXPECT_EQ(g6_open(0), 0) << nbcc_g6_last_error();
  EXPECT_LT(g6_open(1), 0);
  EXPECT_EQ(g6_open(2), 0) << nbcc_g6_last_error();
  EXPECT_EQ(g6_close(0), 0);
  EXPECT_LT(g6_close(1), 0);
  EXPECT_EQ(g6_close(2), 0);
}

}  // namespace
}  // namespace nbcc
