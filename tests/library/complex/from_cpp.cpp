// The same in C++: std::complex numbers.
#include <array>
#include <complex>
#include <complexes.hpp>
#include <cstdio>
#include <type_traits>
#include <vector>

using Complex = std::complex<double>;

int failures = 0;
void expect(int line, Complex got, Complex expected) {
  if (got == expected) return;
  std::printf("line %d: got %g + %gi, expected %g + %gi\n", line, got.real(), got.imag(), expected.real(),
              expected.imag());
  ++failures;
}
#define EXPECT(got, expected) expect(__LINE__, got, expected)

int main() {
  const Complex i(0, 1), k(0.5, -1);
  const std::vector<Complex> a{{1, 2}, {-3, 0}}, b{1, i, 2.0 - i, 4, 5.0 * i, 1.0 + i};
  const std::vector<double> f{1, 2};
  std::vector<Complex> s(2), t(4);
  Complex all;
  const auto sum_of = [&](std::size_t n) {
    Complex sum = 0;
    for (std::size_t j = 0; j < 3; ++j) sum += a[n] * std::conj(b[2 * j]) + k;
    return sum;
  };
  complexes::waves(a, f, b, k, s, t, &all);
  for (std::size_t n = 0; n < 2; ++n) {
    EXPECT(s[n], sum_of(n));
    EXPECT(t[2 * n], 5.0 + 2.0 * i);
    EXPECT(t[2 * n + 1], f[n] * (3.0 + 4.0 * i));
  }
  EXPECT(all, (a[0] + a[1]) * (5.0 + 2.0 * i));
  try {
    const std::vector<Complex> five(5);
    complexes::waves(a, f, five, k, s, {}, {});
    EXPECT(0, 1);
  } catch (const nbcc::Error&) {
  }

  // Opened like any other pipeline: strides, a param, what takes no complex numbers.
  nbcc::Device device("cpu");
  const nbcc::Pipeline opened = complexes::waves_open(device);
  struct Record {
    double before;
    Complex a;
  };
  const std::vector<Record> records{{7, a[0]}, {7, a[1]}};
  nbcc::Sum sum(opened);
  std::vector<Complex> s_again(2);
  sum.set("k", k).bind("a", nbcc::view(&records[0].a, 2, sizeof(Record))).bind("f", f).bind("b", b);
  sum.bind("s", s_again).ignore("t").ignore("all").run().wait();
  EXPECT(s_again[1], sum_of(1));
  const std::vector<Complex> ks{k};
  all = 0;
  sum.set("k", ks).bind("all", all).run().wait();
  EXPECT(all, (a[0] + a[1]) * (5.0 + 2.0 * i));
  EXPECT((std::is_constructible_v<nbcc::Rows<const double, 2>, const std::vector<Complex>&>), 0);
  try {
    sum.bind("f", a);
    EXPECT(0, 1);
  } catch (const nbcc::Error& error) {
    EXPECT(std::string(error.what()) == "'f' is real and takes no complex numbers", 1);
  }
  return failures != 0;
}
