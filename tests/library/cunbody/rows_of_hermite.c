/* A driver of CUNBODY-1's form for acceleration, jerk and potential: rows of j are position, velocity, mass, rows of i
 * position and velocity. Linked with hermite.c, which checks the results. */
#define IDIM (6)
#define JDIM (7)
#define FDIM (7)
#include <cunbody_api.h>

static double rows_j[NMAX][JDIM], rows_i[NMAX][IDIM], rows_f[NMAX][FDIM];

void force(double x[][3], double v[][3], double m[], double p[], double a[][3], double jk[][3], int n) {
  for (int k = 0; k < n; ++k) {
    for (int d = 0; d < 3; ++d) {
      rows_i[k][d] = rows_j[k][d] = x[k][d];
      rows_i[k][3 + d] = rows_j[k][3 + d] = v[k][d];
    }
    rows_j[k][6] = m[k];
  }
  cunbody_api(rows_j, rows_i, rows_f, n, n);
  for (int k = 0; k < n; ++k) {
    for (int d = 0; d < 3; ++d) a[k][d] = rows_f[k][d], jk[k][d] = rows_f[k][3 + d];
    p[k] = rows_f[k][6];
  }
}
