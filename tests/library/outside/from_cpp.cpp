// A compiled library from C++: every kind of range that rows are made of, counts that differ, handles.
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "forces.hpp"

namespace {

int failures = 0;

void expect(bool is_so, const char* what) {
  if (is_so) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

bool near(double value, double expected) { return std::abs(value - expected) <= 1e-6 * (1 + std::abs(expected)); }

}  // namespace

int main() {
  const std::vector<double> flat{1, 0, 0, 0, 2, 0}, mj{1, 4};
  const std::vector<std::array<double, 3>> rows{{1, 0, 0}, {0, 2, 0}};
  const std::array<double, 3> origin{};
  std::vector<double> acc(3), pot(1);
  forces::gravity(origin, flat, mj, 0, acc, pot);
  expect(near(acc[0], 1) && near(acc[1], 1) && near(pot[0], -3), "flat arrays");
  std::array<std::array<double, 3>, 1> force{};
  forces::gravity(std::span(origin), std::span(rows), std::span(mj), 0, force, {});
  expect(near(force[0][0], 1) && near(force[0][1], 1), "arrays of rows, pot not wanted");

  const std::vector<float> flat_f(flat.begin(), flat.end()), mj_f(mj.begin(), mj.end()), origin_f(3);
  std::vector<float> acc_f(3), pot_f(1);
  forces::gravity(origin_f, flat_f, mj_f, 0, acc_f, pot_f);
  expect(near(acc_f[1], 1) && near(pot_f[0], -3), "arrays of float");

  std::vector<double> too_many(2);
  std::string said;
  try {
    forces::gravity(origin, flat, mj, 0, acc, too_many);
  } catch (const nbcc::Error& error) {
    said = error.what();
  }
  expect(said.find("pot") != std::string::npos, "counts that differ");

  const nbcc::Device device("cpu");
  nbcc::Sum sum(forces::gravity_open(device));
  sum.set("eps2", 0).bind("xi", origin).bind("xj", flat).bind("mj", mj).bind("acc", acc).bind("pot", pot);
  sum.run().accumulate();
  expect(near(acc[0], 2) && near(pot[0], -6), "handles");
  return failures != 0;
}
