/* A direct sum as C programs for GRAPE-5 make it. The program's status is the number of the first expectation that
 * failed, 0 if none did. */
#include <math.h>

#include "bindings/grape/nbcc_g5.h"

#define EXPECT(number, condition) \
  if (!(condition)) return number

int main(void) {
  double x[3][3] = {{0, 0, 0}, {2, 0, 0}, {0, 0, -4}}, mass[3] = {1, 3, 5}, a[3][3], p[3], eps = 0;
  int i, off, np, nj = 3;
  g5_get_force(3, a, p);
  EXPECT(1, isnan(a[0][0]) && isnan(p[2]) && nbcc_g5_last_error()[0] != 0);
  g5_open();
  EXPECT(2, nbcc_g5_last_error()[0] == 0 && g5_get_jmemsize() >= nj);
  g5_set_range(-8.0, 8.0, 1.0);
  g5_set_mj(0, nj, mass);
  g5_set_xj(0, nj, x);
  g5_set_n(nj);
  g5_set_eps_to_all(eps);
  np = g5_get_number_of_pipelines();
  EXPECT(3, np >= 1);
  for (off = 0; off < nj; off += np) {
    int ni = np < nj - off ? np : nj - off;
    g5_set_xi(ni, x + off);
    g5_run();
    g5_get_force(ni, a + off, p + off);
  }
  EXPECT(4, fabs(a[0][0] - 0.75) < 1e-6 && fabs(a[0][2] + 0.3125) < 1e-6 && a[0][1] == 0);
  EXPECT(5, fabs(p[0] - 2.75) < 1e-6);
  eps = 1;
  g5_set_eps_to_all(eps);
  g5_calculate_force_on_x(x, a, p, nj);
  for (i = 0; i < nj; i++) p[i] = -p[i] + mass[i] / eps;
  EXPECT(6, fabs(p[0] + 3 / sqrt(5.0) + 5 / sqrt(17.0)) < 1e-6);
  g5_set_xmjMC(2, 0, 1, x, mass);
  g5_set_nMC(2, 1);
  g5_calculate_force_on_xMC(2, x, a, p, nj);
  EXPECT(7, fabs(p[0] - 1) < 1e-6 && fabs(p[1] - 1 / sqrt(5.0)) < 1e-6);
  g5_close();
  g5_run();
  EXPECT(8, nbcc_g5_last_error()[0] != 0);
  return 0;
}
