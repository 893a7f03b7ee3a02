/* A driver of CUNBODY-1's form: its own force() packs rows, calls cunbody_api(), and unpacks the accelerations. Rows of
 * j: position, mass; rows of i: position, eps2; results: acceleration. Linked with force.c, which checks the results.
 */
#define IDIM (4)
#define JDIM (4)
#define FDIM (3)
#include <cunbody_api.h>

static double rows_j[NMAX][JDIM], rows_i[NMAX][IDIM], rows_f[NMAX][FDIM];

void force(double xj[][3], double mj[], double xi[][3], double eps2, double a[][3], int ni, int nj) {
  for (int j = 0; j < nj; ++j) {
    for (int d = 0; d < 3; ++d) rows_j[j][d] = xj[j][d];
    rows_j[j][3] = mj[j];
  }
  for (int i = 0; i < ni; ++i) {
    for (int d = 0; d < 3; ++d) rows_i[i][d] = xi[i][d];
    rows_i[i][3] = eps2;
  }
  cunbody_api(rows_j, rows_i, rows_f, ni, nj);
  for (int i = 0; i < ni; ++i)
    for (int d = 0; d < 3; ++d) a[i][d] = rows_f[i][d];
}
