// The same in C++: a total is a pointer to a number or to a std::array, {} ignores it.
#include <array>
#include <cstdint>
#include <cstdio>
#include <totals.hpp>
#include <vector>

int failures = 0;
void expect(int line, double got, double expected) {
  if (got == expected) return;
  std::printf("line %d: got %g, expected %g\n", line, got, expected);
  ++failures;
}
#define EXPECT(got, expected) expect(__LINE__, got, expected)

int main() {
  const std::vector<double> x{0, 0, 0, 1, 0, 0, 0, 2, 0}, m{1, 2, 4}, a{1, 2, 3, 4}, b{10, 20};
  std::vector<double> force(9);
  double energy = 7, product = 7, least = 7;
  std::array<double, 3> moment{7, 7, 7};
  std::array<double, 2> most{7, 7};
  std::int32_t pairs = 7;
  std::int64_t indices = 7;
  totals::energies(x, m, x, m, force, &energy, &moment, &most, &pairs, &indices);
  EXPECT(energy, 116);
  EXPECT(moment[0], -1);
  EXPECT(most[0], 4);
  EXPECT(pairs, 3);
  EXPECT(indices, 9);
  energy = moment[1] = 7;
  totals::energies(x, m, x, m, {}, {}, {}, &most, {}, &indices);
  EXPECT(energy, 7);
  EXPECT(moment[1], 7);
  const std::vector<float> x_f(x.begin(), x.end()), m_f(m.begin(), m.end());
  totals::energies(x_f, m_f, x_f, m_f, {}, &energy, &moment, {}, {}, {});
  EXPECT(energy, 116);
  EXPECT(moment[1], 10);
  totals::alone(a, b, 3, &product, &least);
  EXPECT(product, 900);
  EXPECT(least, 11);
  const std::vector<double> w{0.5, 0.25};
  static std::array<std::int64_t, 500> n;
  static std::array<double, 500> g;
  totals::histograms(a, b, w, &n, &g);
  EXPECT(n[14], 1);
  EXPECT(g[24], 0.25);
  EXPECT(n[25], 0);

  // A pipeline of the library is opened like any other.
  nbcc::Device device("cpu");
  const nbcc::Pipeline opened = totals::alone_open(device);
  EXPECT(opened.fields().at(3).total, true);
  nbcc::Sum sum(opened);
  sum.set("factor", 3).bind("a", a).bind("b", b).bind("product", product).bind("least", least);
  product = 0;
  sum.run(1, 2);
  EXPECT(product, 3 * 5 * 30);
  EXPECT(least, 12);
  const nbcc::Pipeline counts = totals::histograms_open(device);
  EXPECT(counts.fields().at(3).components, 500);
  EXPECT(counts.fields().at(4).reduction, NBCC_SUM);
  return failures != 0;
}
