// force() and cunbody_api() from C++: the same sums, and what failures look like.
#include <cunbody_api.h>

#include <cmath>
#include <cstdio>
#include <nbody.hpp>
#include <vector>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s: no\n", what);
  ++failures;
}

template <int n>
auto rows(std::vector<double>& values) {
  return reinterpret_cast<double(*)[n]>(values.data());
}

}  // namespace

int main() {
  // r = 5 without softening, and a mass of 250.
  std::vector<double> xi{1, 1, 1}, xj{4, 5, 1}, mj{250}, a(3);
  force(rows<3>(xj), mj.data(), rows<3>(xi), 0.0, rows<3>(a), 1, 1);
  expect(std::abs(a[0] - 6) < 1e-5 && std::abs(a[1] - 8) < 1e-5 && a[2] == 0, "force() of a pair is (6, 8, 0)");

  std::vector<double> i_rows{1, 1, 1, 0}, j_rows{4, 5, 1, 250}, f(3);
  expect(cunbody_api(rows<JDIM>(j_rows), rows<IDIM>(i_rows), rows<FDIM>(f), 1, 1) == 0, "cunbody_api() returns 0");
  expect(f == a, "cunbody_api() and force() agree to the last bit");
  nbody::cunbody_gravity(i_rows, j_rows, f);
  expect(f == a, "so does the function of the pipeline's own fields");

  expect(cunbody_api(rows<JDIM>(j_rows), rows<IDIM>(i_rows), rows<FDIM>(f), 1, 0) == 0 && f[0] == 0,
         "without j-particles there is no force");
  expect(cunbody_api(rows<JDIM>(j_rows), rows<IDIM>(i_rows), rows<FDIM>(f), 1, -1) == NBCC_ERROR_USAGE,
         "a negative count is refused");
  expect(std::isnan(f[0]) && std::isnan(f[2]), "and leaves NaN behind");
  f = a;
  expect(cunbody_api(rows<JDIM>(j_rows), rows<IDIM>(i_rows), rows<FDIM>(f), -1, 1) == NBCC_ERROR_USAGE && f == a,
         "a negative count of what is written writes nothing");
  expect(cunbody_api(nullptr, rows<IDIM>(i_rows), rows<FDIM>(f), 1, 1) == NBCC_ERROR_USAGE && std::isnan(f[0]),
         "a null pointer is refused");
  expect(cunbody_api(rows<JDIM>(j_rows), rows<IDIM>(i_rows), nullptr, 1, 1) == NBCC_ERROR_USAGE,
         "so is one in place of the forces");
  force(nullptr, mj.data(), rows<3>(xi), 0.0, rows<3>(a), 1, 1);
  expect(std::isnan(a[0]) && std::isnan(a[1]) && std::isnan(a[2]), "force() without positions is NaN");
  std::vector<double> two{1, 1, 1, 1, NAN, 1}, both(6);
  force(rows<3>(xj), mj.data(), rows<3>(two), 0.0, rows<3>(both), 2, 1);
  expect(std::abs(both[0] - 6) < 1e-5 && std::isnan(both[3]), "NaN stays with its particle");
  return failures;
}
