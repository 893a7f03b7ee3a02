// The same in C++: the counts are the sizes of the ranges.
#include <array>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <pairs.hpp>
#include <string>
#include <vector>

int failures = 0;
void expect(int line, double got, double expected) {
  if (got == expected) return;
  std::printf("line %d: got %g, expected %g\n", line, got, expected);
  ++failures;
}
#define EXPECT(got, expected) expect(__LINE__, got, expected)

template <typename Call>
void expect_error(int line, const std::string& expected, const Call& call) {
  try {
    call();
  } catch (const nbcc::Error& error) {
    if (std::string(error.what()).find(expected) != std::string::npos) return;
    std::printf("line %d: got '%s', expected '%s'\n", line, error.what(), expected.c_str());
    ++failures;
    return;
  }
  std::printf("line %d: no error, expected '%s'\n", line, expected.c_str());
  ++failures;
}

int main() {
  const std::vector<double> x{0, 0, 0, 1, 0, 0, 0, 2, 0}, a{1, 2, 3};
  const std::vector<std::int64_t> first{0, 2, 2, 4}, j{1, 2, 0, 1};
  const std::vector<std::array<double, 3>> before(4, {1, 0, 1});
  std::vector<std::array<double, 3>> history(4);
  std::vector<double> force(9);
  double pull = 0;
  pairs::contacts(x, x, first, j, before, history, force, &pull);
  EXPECT(history[0][0], 1.5);
  EXPECT(history[2][1], -1);
  EXPECT(history[3][2], 0);
  EXPECT(force[0], 2.5);
  std::vector<float> x_f(x.begin(), x.end()), before_f(12, 1), history_f(12);
  pairs::contacts(x_f, x_f, first, j, before_f, history_f, {}, {});
  EXPECT(history_f[0], 1.5);

  std::vector<std::int64_t> numbers(4);
  pairs::links(a, a, 10, first, j, {}, numbers);
  EXPECT(double(numbers[3]), 201);
  const std::vector<std::complex<double>> k{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  std::vector<std::complex<double>> pulls(3);
  pairs::springs(a, a, first, j, k, pulls);
  EXPECT(pulls[0].imag(), 10);

  // The real arrays are outputs only: {} is the function for double.
  const std::vector<std::int32_t> ints{10, 20, 30};
  std::vector<double> differences(4), excess(3);
  std::vector<float> differences_f(4), excess_f(3);
  pairs::differences(ints, ints, first, j, differences);
  EXPECT(differences[1], -20);
  pairs::differences(ints, ints, first, j, differences_f);
  EXPECT(differences_f[1], -20);
  pairs::differences(ints, ints, first, j, {});
  pairs::excess(ints, ints, excess);
  EXPECT(excess[2], 30);
  pairs::excess(ints, ints, excess_f);
  EXPECT(excess_f[2], 30);
  pairs::excess(ints, ints, {});

  // Without i-particles `first` may be empty, also if it has memory.
  const std::vector<double> none;
  std::vector<std::int64_t> empty;
  empty.reserve(8);
  pull = 7;
  pairs::contacts(none, x, empty, {}, {}, {}, {}, &pull);
  EXPECT(pull, 0);
  expect_error(__LINE__, "contacts: 'first' has 0 numbers, expected 4 for 3 i-particles",
               [&] { pairs::contacts(x, x, empty, j, before, history, {}, {}); });

  const std::vector<std::int64_t> shorter{0, 2, 4};
  expect_error(__LINE__, "contacts: 'first' has 3 numbers, expected 4 for 3 i-particles",
               [&] { pairs::contacts(x, x, shorter, j, before, history, {}, {}); });
  history.resize(3);
  expect_error(__LINE__, "contacts: 'history' has 3 pairs, but 'j' has 4",
               [&] { pairs::contacts(x, x, first, j, before, history, {}, {}); });
  const nbcc::Device device("cpu");
  EXPECT(double(pairs::contacts_open(device).fields().size()), 6);
  return failures != 0;
}
