// The same library from C++: what a CUNBODY program does with numbered columns, here for three bodies.
#include <cunbody_api.h>

#include <cstdio>

int main() {
  double xj[3][JDIM] = {{0, 0, 0, 1}, {1, 0, 0, 1}, {0, 2, 0, 4}};              // position and mass
  double xi[3][IDIM] = {{0, 0, 0, 1e-12}, {1, 0, 0, 1e-12}, {0, 2, 0, 1e-12}};  // position and softening length squared
  double a[3][FDIM];
  if (cunbody_api(xj, xi, a, 3, 3) != 0) return 1;
  for (const auto& row : a) std::printf("%.3f %.3f %.3f\n", row[0], row[1], row[2]);
}
