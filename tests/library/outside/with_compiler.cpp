// One program with both libraries: pipelines compiled before and pipelines compiled now, on one device, to the same
// bits.
#include <cstdio>
#include <vector>

#include "forces.hpp"

int main() {
  constexpr int n = 777;
  std::vector<double> x(3 * n), m(n), before(3 * n), now(3 * n), pot(n);
  unsigned state = 1;
  for (double& value : x) value = (state = state * 1664525u + 1013904223u) / 4294967296.0;
  for (double& value : m) value = 1.0 / n;
  const nbcc::Device device("cpu", {.isa = "sse2"});
  const auto run = [&](const nbcc::Pipeline& pipeline, std::vector<double>& acc) {
    nbcc::Sum(pipeline).bind("xi", x).bind("xj", x).bind("mj", m).bind("acc", acc).bind("pot", pot).run();
  };
  run(forces::gravity_open(device), before);
  run(nbcc::Pipeline::from_file(device, GRAVITY), now);
  if (before == now && now[0] != 0) return 0;
  std::puts("the two differ");
  return 1;
}
