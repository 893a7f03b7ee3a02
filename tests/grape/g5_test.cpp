// The C names of GRAPE-5's interface, against direct sums in double precision.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bindings/grape/nbcc_g5.h"
#include "tests/grape/variable.h"

namespace nbcc {
namespace {

using Vec3 = std::array<double, 3>;

double (*rows(std::vector<Vec3>& array))[3] { return reinterpret_cast<double(*)[3]>(array.data()); }

struct Bodies {
  std::vector<Vec3> x;
  std::vector<double> mass;

  Bodies(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::size_t k = 0; k < count; ++k) {
      x.push_back({uniform(random), uniform(random), uniform(random)});
      mass.push_back((1 + 0.5 * uniform(random)) / double(count));
    }
  }
  int count() const { return int(x.size()); }
};

// With the potential's sign, and the particle's own part of it, as GRAPE-5 has them.
std::array<double, 4> direct(const Bodies& all, std::size_t n, const Vec3& at, double eps2) {
  std::array<double, 4> force{};
  for (std::size_t j = 0; j < n; ++j) {
    const Vec3 d{all.x[j][0] - at[0], all.x[j][1] - at[1], all.x[j][2] - at[2]};
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + eps2;
    if (r2 == 0) continue;
    const double mr = all.mass[j] / std::sqrt(r2);
    for (std::size_t c = 0; c < 3; ++c) force[c] += mr / r2 * d[c];
    force[3] += mr;
  }
  return force;
}

struct Forces {
  std::vector<Vec3> a;
  std::vector<double> p;
  explicit Forces(std::size_t n) : a(n, Vec3{-7, -7, -7}), p(n, -7.0) {}
};

void expect_forces(const Forces& got, const Bodies& all, std::size_t n, const std::vector<Vec3>& at,
                   const std::vector<double>& eps2, double tolerance) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::array<double, 4> force = direct(all, n, at[i], eps2[i]);
    const double size = std::hypot(force[0], force[1], force[2]);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(got.a[i][c], force[c], tolerance * size) << i;
    EXPECT_NEAR(got.p[i], force[3], tolerance * force[3]) << i;
  }
}

bool all_nan(const Forces& forces) {
  for (std::size_t i = 0; i < forces.p.size(); ++i) {
    for (const double a : forces.a[i])
      if (!std::isnan(a)) return false;
    if (!std::isnan(forces.p[i])) return false;
  }
  return true;
}

std::string last_error() { return nbcc_g5_last_error(); }

class g5 : public testing::Test {
 protected:
  void open(const char* precision = "double") {
    const test::Variable given("NBCC_PRECISION", precision);
    g5_open();
    ASSERT_EQ(last_error(), "");
  }
  void TearDown() override { g5_close(); }
  static void load(Bodies& all) {
    g5_set_xmj(0, all.count(), rows(all.x), all.mass.data());
    g5_set_n(all.count());
  }
  static Forces on(std::vector<Vec3>& x) {
    Forces forces(x.size());
    g5_calculate_force_on_x(rows(x), rows(forces.a), forces.p.data(), int(x.size()));
    return forces;
  }
};

TEST_F(g5, forces_are_those_of_all_particles_and_potentials_positive) {
  open();
  Bodies all(300, 1);
  load(all);
  g5_set_eps_to_all(0.02);
  expect_forces(on(all.x), all, 300, all.x, std::vector<double>(300, 0.0004), 1e-12);
  g5_set_eps2_to_all(0.01);
  expect_forces(on(all.x), all, 300, all.x, std::vector<double>(300, 0.01), 1e-12);
}

TEST_F(g5, a_particle_adds_m_over_eps_to_its_own_potential_and_nothing_without_eps) {
  open();
  Bodies one(1, 2);
  load(one);
  g5_set_eps_to_all(0.25);
  EXPECT_DOUBLE_EQ(on(one.x).p[0], one.mass[0] / 0.25);
  EXPECT_EQ(on(one.x).a[0], (Vec3{0, 0, 0}));
  g5_set_eps_to_all(0);
  EXPECT_EQ(on(one.x).p[0], 0);
  EXPECT_EQ(on(one.x).a[0], (Vec3{0, 0, 0}));
}

TEST_F(g5, mixed_precision_is_the_default) {
  g5_open();
  Bodies all(300, 3);
  load(all);
  g5_set_eps_to_all(0.05);
  const Forces forces = on(all.x);
  expect_forces(forces, all, 300, all.x, std::vector<double>(300, 0.0025), 3e-6);
  EXPECT_GT(std::abs(forces.p[0] - direct(all, 300, all.x[0], 0.0025)[3]), 1e-12) << "this was double precision";
}

TEST_F(g5, positions_and_masses_can_be_set_in_parts_and_n_be_less) {
  open();
  Bodies all(100, 4);
  g5_set_range(-1, 1, all.mass[0]);
  g5_set_eta(0.5);
  g5_set_mj(0, 100, all.mass.data());
  g5_set_xj(60, 40, rows(all.x) + 60);
  g5_set_xj(0, 60, rows(all.x));
  g5_set_n(100);
  g5_set_eps_to_all(0.1);
  expect_forces(on(all.x), all, 100, all.x, std::vector<double>(100, 0.01), 1e-12);
  all.x[70] = {3, 4, 5};
  g5_set_xj(70, 1, rows(all.x) + 70);
  expect_forces(on(all.x), all, 100, all.x, std::vector<double>(100, 0.01), 1e-12);
  g5_set_n(33);
  expect_forces(on(all.x), all, 33, all.x, std::vector<double>(100, 0.01), 1e-12);
  g5_set_jp(0, 1, &(all.mass[0] = 9), rows(all.x));
  expect_forces(on(all.x), all, 33, all.x, std::vector<double>(100, 0.01), 1e-12);
  g5_set_n(0);
  EXPECT_EQ(on(all.x).p[5], 0);
  double xmin = 0, xmax = 0, mmin = 0;
  g5_get_range(&xmin, &xmax, &mmin);
  EXPECT_TRUE(xmin == -1 && xmax == 1 && mmin > 0);
}

TEST_F(g5, i_particles_may_be_more_than_pipelines_and_have_softenings_of_their_own) {
  const test::Variable pipes("NBCC_G5_PIPES", "8");
  EXPECT_EQ(g5_get_number_of_pipelines(), 8);
  EXPECT_EQ(g5_get_number_of_pipelines_per_board() * g5_get_number_of_boards(), 8);
  open();
  Bodies all(50, 5);
  load(all);
  g5_set_eps_to_all(0.1);
  expect_forces(on(all.x), all, 50, all.x, std::vector<double>(50, 0.01), 1e-12);
  std::vector<double> eps, eps2;
  for (int i = 0; i < 50; ++i) {
    eps.push_back(0.01 * (1 + i));
    eps2.push_back(eps.back() * eps.back());
  }
  Forces forces(50);
  g5_set_eps(50, eps.data());
  g5_set_xi(50, rows(all.x));
  g5_run();
  g5_get_force(50, rows(forces.a), forces.p.data());
  expect_forces(forces, all, 50, all.x, eps2, 1e-12);
  g5_set_eps_to_all(0.1);
  expect_forces(on(all.x), all, 50, all.x, std::vector<double>(50, 0.01), 1e-12);
}

TEST_F(g5, what_is_set_during_a_run_is_too_late_for_it) {
  open();
  Bodies all(50, 6);
  load(all);
  g5_set_eps_to_all(0.1);
  g5_set_xi(50, rows(all.x));
  g5_run();
  std::vector<double> nothing(50, 0.0);
  g5_set_mj(0, 50, nothing.data());
  Forces forces(50);
  g5_get_force(50, rows(forces.a), forces.p.data());
  expect_forces(forces, all, 50, all.x, std::vector<double>(50, 0.01), 1e-12);
  g5_run();
  g5_get_force(50, rows(forces.a), forces.p.data());
  EXPECT_EQ(forces.p[3], 0);
}

TEST_F(g5, boards_are_independent_and_run_at_once) {
  open();
  g5_set_eps_to_all(0.1);
  const auto one_thread = [](int board) {
    Bodies all(std::size_t(40 + board), 10 + unsigned(board));
    for (int round = 0; round < 3; ++round) {
      g5_set_xmjMC(board, 0, all.count(), rows(all.x), all.mass.data());
      g5_set_nMC(board, all.count());
      Forces forces(all.x.size());
      g5_calculate_force_on_xMC(board, rows(all.x), rows(forces.a), forces.p.data(), all.count());
      expect_forces(forces, all, all.x.size(), all.x, std::vector<double>(all.x.size(), 0.01), 1e-12);
    }
  };
  std::vector<std::thread> threads;
  for (int board = 0; board < 5; ++board) threads.emplace_back(one_thread, board);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(g5, without_g5_open_there_are_no_forces) {
  Bodies all(3, 7);
  load(all);
  EXPECT_NE(last_error().find("call g5_open first"), std::string::npos) << last_error();
  EXPECT_TRUE(all_nan(on(all.x)));
  {
    const test::Variable none("NBCC_DEVICE", "abacus");
    g5_open();
  }
  EXPECT_NE(last_error().find("abacus"), std::string::npos) << last_error();
  EXPECT_TRUE(all_nan(on(all.x)));
  EXPECT_NE(last_error().find("abacus"), std::string::npos) << "the reason is not forgotten: " << last_error();
  open();
  load(all);
  EXPECT_GT(on(all.x).p[0], 0);
  g5_close();
  EXPECT_TRUE(all_nan(on(all.x)));
}

TEST_F(g5, what_is_refused_is_told_by_the_forces_until_it_is_set_rightly) {
  const test::Variable room("NBCC_G5_JMEMSIZE", "10");
  open();
  EXPECT_EQ(g5_get_jmemsize(), 10);
  Bodies all(11, 8);
  const auto expect_refused = [&](const std::string& message) {
    EXPECT_NE(last_error().find(message), std::string::npos) << last_error();
    EXPECT_TRUE(all_nan(on(all.x)));
    EXPECT_NE(last_error().find(message), std::string::npos) << last_error();
  };
  const auto set_rightly = [&] {
    g5_set_xmj(0, 10, rows(all.x), all.mass.data());
    g5_set_n(10);
    g5_set_eps_to_all(0.1);
    expect_forces(on(all.x), all, 10, all.x, std::vector<double>(11, 0.01), 1e-12);
  };
  set_rightly();
  g5_set_xmj(0, 11, rows(all.x), all.mass.data());
  expect_refused("there is room for 10");
  set_rightly();
  g5_set_xj(9, 2, rows(all.x));
  expect_refused("there is room for 10");
  set_rightly();
  g5_set_mj(-1, 2, all.mass.data());
  expect_refused("addresses of j-particles begin at 0");
  set_rightly();
  g5_set_n(-1);
  expect_refused("nj is -1");
  set_rightly();
  g5_set_n(11);
  expect_refused("there is room for 10");
  set_rightly();
  g5_set_eps(2, all.mass.data());
  EXPECT_TRUE(all_nan(on(all.x)));
  EXPECT_NE(last_error().find("softenings were set of 2 i-particles"), std::string::npos) << last_error();
  set_rightly();
  g5_set_xi(-5, rows(all.x));
  EXPECT_NE(last_error().find("ni is -5"), std::string::npos) << last_error();
  set_rightly();
  g5_set_cutoff_table([](double) { return 1.0; }, 1, 1, [](double) { return 1.0; }, 1, 1);
  expect_refused("cutoff");
}

TEST_F(g5, null_pointers_are_refused_and_nothing_is_read_through_them) {
  open();
  Bodies all(5, 10);
  const auto set_rightly = [&] {
    load(all);
    g5_set_eps_to_all(0.1);
    expect_forces(on(all.x), all, 5, all.x, std::vector<double>(5, 0.01), 1e-12);
  };
  const auto expect_refused = [&](const std::string& message) {
    EXPECT_TRUE(all_nan(on(all.x)));
    EXPECT_NE(last_error().find(message + " is a null pointer"), std::string::npos) << last_error();
    set_rightly();
  };
  set_rightly();
  g5_set_xj(0, 5, nullptr);
  expect_refused("xj");
  g5_set_mj(0, 5, nullptr);
  expect_refused("mj");
  g5_set_xmj(0, 5, nullptr, nullptr);
  expect_refused("xj");
  g5_set_eps(5, nullptr);
  expect_refused("the array of softenings");
  g5_set_eps2(5, nullptr);
  expect_refused("the array of softenings");
  Forces forces(5);
  g5_calculate_force_on_x(nullptr, rows(forces.a), forces.p.data(), 5);
  EXPECT_TRUE(all_nan(forces));
  set_rightly();
  forces = Forces(5);
  g5_calculate_force_on_x(rows(all.x), rows(forces.a), nullptr, 5);
  EXPECT_NE(last_error().find("p is a null pointer"), std::string::npos) << last_error();
  EXPECT_TRUE(std::isnan(forces.a[4][2]));
  g5_calculate_force_on_x(rows(all.x), nullptr, forces.p.data(), 5);
  EXPECT_TRUE(std::isnan(forces.p[4]));
  g5_get_force(-1, nullptr, nullptr);
  EXPECT_NE(last_error().find("ni is -1"), std::string::npos) << last_error();
  g5_get_range(nullptr, nullptr, nullptr);
  // Of nothing there need be no array.
  g5_set_xmj(0, 0, nullptr, nullptr);
  g5_calculate_force_on_x(nullptr, nullptr, nullptr, 0);
  set_rightly();
}

TEST_F(g5, what_is_nan_disturbs_nothing_else) {
  open();
  Bodies all(70, 11);
  load(all);
  g5_set_eps_to_all(0.1);
  const Forces expected = on(all.x);
  std::vector<Vec3> at = all.x;
  at[17][1] = NAN;
  const Forces got = on(at);
  EXPECT_TRUE(std::isnan(got.a[17][0]) && std::isnan(got.a[17][2]) && std::isnan(got.p[17]));
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (i == 17) continue;
    EXPECT_EQ(got.a[i], expected.a[i]) << i;
    EXPECT_EQ(got.p[i], expected.p[i]) << i;
  }
  std::vector<double> mass = all.mass;
  mass[40] = NAN;
  g5_set_mj(0, all.count(), mass.data());
  EXPECT_TRUE(all_nan(on(all.x)));
  // What lies behind n is not summed over.
  g5_set_n(40);
  expect_forces(on(all.x), all, 40, all.x, std::vector<double>(70, 0.01), 1e-12);
}

TEST_F(g5, forces_are_of_a_run_of_these_particles) {
  open();
  Bodies all(5, 9);
  Forces forces(5);
  const auto expect_none = [&](int ni, const std::string& message) {
    g5_get_force(ni, rows(forces.a), forces.p.data());
    EXPECT_NE(last_error().find(message), std::string::npos) << last_error();
    EXPECT_TRUE(all_nan(forces));
  };
  expect_none(5, "call g5_run first");
  g5_set_xi(5, rows(all.x));
  g5_run();
  expect_none(5, "call g5_set_n first");
  g5_set_n(5);
  g5_run();
  expect_none(5, "positions and masses were set of 0 j-particles");
  load(all);
  g5_set_xi(4, rows(all.x));
  g5_run();
  expect_none(5, "g5_set_xi was given 4");
  g5_get_force(4, rows(forces.a), forces.p.data());
  EXPECT_TRUE(forces.p[3] > 0 && std::isnan(forces.p[4]));
  g5_set_xi(5, rows(all.x));
  expect_none(5, "call g5_run first");
}

}  // namespace
}  // namespace nbcc
