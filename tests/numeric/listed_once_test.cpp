// Listed pairs that act on both of their particles: what is refused, and what a pair has in common.
// what_goes_together_test.cpp compares their sums with the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "runtime/api/nbcc.h"
#include "runtime/api/nbcc.hpp"

namespace nbcc {
namespace {

using testing::HasSubstr;

// Opposite, equal and unequal terms; a table, indices, a finish() that reads sums. Five sums are added four at a time.
const char* const kPairs = R"(
input_i vec3 xi; input_i real mi; input_i int ti;
input_j vec3 xj; input_j real mj; input_j int tj;
param real strength[2][2]; param real rc = 0.7;
output(sum) vec3 force; output(sum) real energy; output(sum) real heat; output(sum) real mass;
output(min) real least; output(max) real most; output(max) index last; output(count) index near;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc || i_index == j_index);
real k = strength[ti][tj] * (1.0 / (r2 + 0.01) - 1.0 / (rc * rc + 0.01));
force -= k * dx;
energy += 0.5 * k * r2;
heat += mj * r2;
mass += mj;
least = min(least, r2);
most = max(most, mj * r2);
last = max(last, j_index);
near += r2 < 0.3;
void finish() { heat = heat / (1.0 + mass); }
)";

struct Particles {
  std::vector<double> x, m;
  std::vector<int> types;
  std::vector<std::int64_t> first{0}, j;  // each pair once
};

Particles random_particles(int count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Particles p;
  for (int k = 0; k < 3 * count; ++k) p.x.push_back(uniform(engine));
  for (int k = 0; k < count; ++k) p.m.push_back(0.5 + uniform(engine)), p.types.push_back(int(engine() % 2));
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b)
      if (engine() % 4 == 0) p.j.push_back(b);
    p.first.push_back(std::int64_t(p.j.size()));
  }
  return p;
}

using Results = std::map<std::string, std::vector<double>>;

void bind(Sum& sum, const Pipeline& pipeline, Particles& p, Results& results) {
  for (const char* const side : {"i", "j"}) {
    sum.bind(std::string("x") + side, rows(p.x, 3));
    sum.bind(std::string("m") + side, rows(p.m, 1));
    sum.bind(std::string("t") + side, rows(p.types, 1));
  }
  sum.set("strength", std::vector<double>{1, -2, -2, 0.5});
  for (const Field& field : pipeline.fields()) {
    if (field.role != NBCC_OUTPUT) continue;
    results[field.name].assign(p.m.size() * std::size_t(field.components), -77);
    sum.bind(field.name, rows(results[field.name], field.components));
  }
}

std::string refusal(Sum& sum) {
  try {
    sum.run();
  } catch (const Error& refused) {
    return refused.what();
  }
  return "";
}

TEST(ListedOnce, RefusesByName) {
  const Device device("cpu");
  const Pipeline pipeline = Pipeline::from_text(device, kPairs, "pairs", {.precision = NBCC_DOUBLE});
  Particles p = random_particles(9, 5);
  Results results;
  Sum sum(pipeline);
  bind(sum, pipeline, p, results);
  sum.symmetric(NBCC_SYMMETRIC_LISTED);
  EXPECT_THAT(refusal(sum), HasSubstr("symmetric = listed: no pairs are listed"));
  sum.listed_pairs(std::vector<std::int64_t>{0, 1, 2, 2, 2, 2, 2, 2, 2, 2}, std::vector<std::int64_t>{4, 1});
  EXPECT_THAT(refusal(sum), HasSubstr("symmetric = listed: particle 1 is listed with itself"));
  sum.listed_pairs(p.first, p.j);
  EXPECT_EQ(refusal(sum), "");
  std::vector<double> other = p.m;
  sum.bind("mj", rows(other, 1));
  EXPECT_THAT(refusal(sum), HasSubstr("symmetric = listed: i and j are two sets"));
}

TEST(ListedOnce, KnowsWhatAPairHasInCommon) {
  const Device device("cpu");
  const auto cost_of = [&](const std::string& text, std::string& why) {
    const Pipeline pipeline = Pipeline::from_text(device, text, "pairs");
    double cost = -1;
    nbcc_error* error = nullptr;
    nbcc_pipeline_listed_once(pipeline.get(), &cost, &error);
    if (error) why = nbcc_error_message(error);
    nbcc_error_free(error);
    return cost;
  };
  const std::string head = "input_i vec3 xi; input_j vec3 xj; ";
  std::string why;
  EXPECT_LT(cost_of(head + "output(sum) vec3 f; vec3 d = xj - xi; f += d / (1 + pow(dot(d, d), 1.5));", why), 0.7);
  EXPECT_GT(cost_of(head + "output(sum) real s; s += sin(xj.x) * exp(-xi.y * xi.y + xj.x);", why), 0.8);
  EXPECT_EQ(why, "");
  EXPECT_EQ(cost_of(head + "output(argmin) index n; n = argmin(n, xj.x);", why), -1);
  EXPECT_THAT(why, HasSubstr("an output keeps more than a sum or an extreme of its terms"));
}

TEST(ListedOnce, NeedsSymmetricTables) {
  const Device device("cpu");
  const Pipeline pipeline = Pipeline::from_text(
      device,
      "input_i vec3 xi; input_i int ti; input_j vec3 xj; input_j int tj; param real eps[2][2]; param real sig[2][2];\n"
      "output(sum) vec3 f; vec3 d = xj - xi; f += eps[ti][tj] * sig[min(ti, tj)][max(ti, tj)] * d;",
      "pairs", {.precision = NBCC_DOUBLE});
  EXPECT_EQ(nbcc_pipeline_needs_symmetric(pipeline.get(), "eps"), 1);
  EXPECT_EQ(nbcc_pipeline_needs_symmetric(pipeline.get(), "sig"), 0);
  EXPECT_EQ(nbcc_pipeline_needs_symmetric(pipeline.get(), "xi"), 0);
  std::vector<double> x{0, 0, 0, 1, 2, 3}, t{0, 1}, f(6);
  Sum sum(pipeline);
  for (const char* const name : {"xi", "xj"}) sum.bind(name, rows(x, 3));
  for (const char* const name : {"ti", "tj"}) sum.bind(name, rows(t, 1));
  sum.bind("f", rows(f, 3));
  sum.symmetric(NBCC_SYMMETRIC_LISTED);
  sum.listed_pairs(std::vector<std::int64_t>{0, 1, 1}, std::vector<std::int64_t>{1});
  sum.set("sig", std::vector<double>{1, 2, 9, 3});
  sum.set("eps", std::vector<double>{1, 3, 4, 5});
  EXPECT_THAT(refusal(sum), HasSubstr("symmetric = listed: param 'eps' is not symmetric: [0][1] is 3, [1][0] is 4"));
  sum.set("eps", std::vector<double>{1, 4, 4, 5});
  EXPECT_EQ(refusal(sum), "");
  EXPECT_EQ(f, (std::vector<double>{8, 16, 24, -8, -16, -24}));
}

}  // namespace
}  // namespace nbcc
