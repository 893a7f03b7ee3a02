// What is behind GRAPE-6's interface: j-particles in a device's memory, and their prediction there. On the CPU and on a
// GPU made of it.
#include "bindings/grape/j_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bindings/grape/cluster.h"
#include "runtime/api/handles.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

using g6::AddressRange;
using g6::JMemory;
using g6::JParticle;
using g6::Predicted;
using g6::Vec3;

std::vector<JParticle> particles(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto vec3 = [&] { return Vec3{uniform(random), uniform(random), uniform(random)}; };
  std::vector<JParticle> all;
  for (std::size_t k = 0; k < count; ++k) {
    all.push_back({true, int(7 + k), uniform(random), 1 + uniform(random), vec3(), vec3(), vec3(), vec3(), vec3()});
  }
  return all;
}

// Term by term and not by Horner's rule: the two differ by roundings.
void expect_predicted(const Predicted& got, const JParticle& p, double time) {
  const double dt = time - p.time, eps = std::numeric_limits<double>::epsilon();
  for (std::size_t c = 0; c < 3; ++c) {
    const std::array<double, 5> x{p.x[c], p.v[c] * dt, p.a2[c] * dt * dt, p.j6[c] * dt * dt * dt,
                                  0.75 * p.k18[c] * dt * dt * dt * dt};
    const std::array<double, 4> v{p.v[c], 2 * p.a2[c] * dt, 3 * p.j6[c] * dt * dt, 3 * p.k18[c] * dt * dt * dt};
    const auto expect = [&](double value, const auto& terms) {
      double sum = 0, size = 0;
      for (const double term : terms) {
        sum += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(value, sum, 4 * eps * size);
    };
    expect(got.x[c], x);
    expect(got.v[c], v);
  }
}

bool equal(const Predicted& a, const Predicted& b) { return a.x == b.x && a.v == b.v; }

TEST(g6_pieces, what_is_near_goes_together_and_what_is_far_alone) {
  using Pieces = std::vector<AddressRange>;
  EXPECT_EQ(g6::pieces_of({}), Pieces{});
  EXPECT_EQ(g6::pieces_of({5}), (Pieces{{5, 6}}));
  EXPECT_EQ(g6::pieces_of({2, 0, 1, 1}), (Pieces{{0, 3}}));
  EXPECT_EQ(g6::pieces_of({90000, 10, 20}), (Pieces{{10, 21}, {90000, 90001}}));
}

Device gpu(const test::CudaShim& shim) {
  return Device(new nbcc_device{std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "")});
}

// The parameter: whether on a GPU.
class JMemoryTest : public testing::TestWithParam<bool> {
 protected:
  Device open() {
    if (!GetParam()) return Device("cpu");
    shim_ = std::make_unique<test::CudaShim>();
    shim_->set_lazy(true);
    return gpu(*shim_);
  }
  // Copies to the GPU since the last call.
  int copies() {
    const int count = shim_ ? shim_->calls("memcpy_htod_async") : 0;
    if (shim_) shim_->forget_calls();
    return count;
  }
  static void load(JMemory& memory, const std::vector<JParticle>& all) {
    for (std::size_t k = 0; k < all.size(); ++k) memory.set(k, all[k]);
  }

  std::unique_ptr<test::CudaShim> shim_;
};

TEST_P(JMemoryTest, predicts_single_particles_in_double) {
  const Device device = open();
  JMemory memory(device);
  const std::vector<JParticle> all = particles(300, 1);
  load(memory, all);
  EXPECT_EQ(memory.leading(), 300U);
  for (const double time : {-0.5, 0.0, 2.25}) {
    EXPECT_TRUE(memory.predict(time, 300));
    const std::vector<Predicted> predicted = memory.predicted();
    ASSERT_EQ(predicted.size(), 300U);
    for (std::size_t k = 0; k < all.size(); ++k) expect_predicted(predicted[k], all[k], time);
  }
  EXPECT_FALSE(memory.predict(2.25, 300)) << "they are there";
  EXPECT_TRUE(memory.predict(2.25, 299));
}

TEST_P(JMemoryTest, a_particle_at_its_own_time_is_where_it_was_set) {
  const Device device = open();
  JMemory memory(device);
  std::vector<JParticle> all = particles(5, 2);
  for (JParticle& one : all) one.time = 0.375;
  load(memory, all);
  memory.predict(0.375, 5);
  const std::vector<Predicted> predicted = memory.predicted();
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(predicted[k].x, all[k].x);
    EXPECT_EQ(predicted[k].v, all[k].v);
  }
}

TEST_P(JMemoryTest, what_is_set_anew_changes_and_nothing_else) {
  const Device device = open();
  JMemory memory(device);
  std::vector<JParticle> all = particles(2000, 3);
  load(memory, all);
  memory.predict(0.5, 2000);
  const std::vector<Predicted> before = memory.predicted();
  copies();
  const std::vector<std::size_t> anew{3, 5, 1990};
  for (const std::size_t k : anew) {
    all[k].x[1] += 1;
    all[k].index = -int(k);
    memory.set(k, all[k]);
  }
  EXPECT_EQ(memory.index(3), 10) << "of what is on the device";
  EXPECT_TRUE(memory.predict(0.5, 2000));
  EXPECT_EQ(copies(), GetParam() ? 2 : 0) << "3 with 5, and 1990";
  const std::vector<Predicted> after = memory.predicted();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool is_anew = std::ranges::count(anew, k) > 0;
    EXPECT_EQ(equal(before[k], after[k]), !is_anew) << k;
    if (is_anew) expect_predicted(after[k], all[k], 0.5);
  }
  EXPECT_EQ(memory.index(3), -3);
  copies();
  memory.predict(0.75, 2000);
  EXPECT_EQ(copies(), 0) << "another time sends nothing";
}

TEST_P(JMemoryTest, memory_grows_and_gaps_are_known) {
  const Device device = open();
  JMemory memory(device);
  EXPECT_TRUE(memory.predict(1, 0));
  EXPECT_TRUE(memory.predicted().empty());
  const std::vector<JParticle> all = particles(40, 4);
  memory.set(0, all[0]);
  memory.set(2, all[2]);
  EXPECT_EQ(memory.leading(), 1U);
  memory.predict(1, 1);
  load(memory, all);
  EXPECT_EQ(memory.leading(), 40U);
  memory.predict(1, 40);
  const std::vector<Predicted> predicted = memory.predicted();
  for (std::size_t k = 0; k < all.size(); ++k) expect_predicted(predicted[k], all[k], 1);
}

TEST_P(JMemoryTest, a_cluster_sums_over_predicted_particles) {
  g6::Cluster cluster(open(), NBCC_DOUBLE);
  std::vector<JParticle> all = particles(70, 5);
  const auto check = [&](double time, bool resets) {
    if (resets) all[9].x = {4, 4, 4};
    for (std::size_t k = 0; k < all.size(); ++k)
      if (!resets || k == 9) cluster.set_j(int(k), all[k]);
    cluster.set_time(time);
    cluster.start(70, 0.01, {{7, 1e3, {0.5, 0, 0}, {0, 0, 0}}});
    const g6::Force force = cluster.forces().at(0);
    double pot = 0;
    for (std::size_t k = 1; k < all.size(); ++k) {  // index 7 is address 0
      const JParticle& p = all[k];
      const double dt = time - p.time;
      double r2 = 0.01;
      for (std::size_t c = 0; c < 3; ++c) {
        const double x = p.x[c] + dt * p.v[c] + dt * dt * p.a2[c] + std::pow(dt, 3) * p.j6[c] +
                         0.75 * std::pow(dt, 4) * p.k18[c] - (c == 0 ? 0.5 : 0);
        r2 += x * x;
      }
      pot -= p.mass / std::sqrt(r2);
    }
    EXPECT_NEAR(force.pot, pot, 1e-12 * std::abs(pot));
    EXPECT_EQ(cluster.neighbours().at(0).size(), 69U);
  };
  check(0.25, false);
  check(0.5, false);
  check(0.5, true);
}

TEST(g6_memory, without_memory_the_next_predict_begins_anew) {
  test::CudaShim shim;
  const Device device = gpu(shim);
  JMemory memory(device);
  const std::vector<JParticle> all = particles(20, 6);
  for (std::size_t k = 0; k < all.size(); ++k) memory.set(k, all[k]);
  shim.fail("mem_alloc", 2, kCudaOutOfMemory);
  EXPECT_THROW(memory.predict(1, 20), Error);
  EXPECT_TRUE(memory.predict(1, 20));
  expect_predicted(memory.predicted()[19], all[19], 1);
}

INSTANTIATE_TEST_SUITE_P(g6, JMemoryTest, testing::Bool(), [](const auto& info) { return info.param ? "gpu" : "cpu"; });

}  // namespace
}  // namespace nbcc
