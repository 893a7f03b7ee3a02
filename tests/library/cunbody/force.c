/* Gravity by force(), as programs for CUNBODY-1 call it, against the sum written out. Where NBCC_OWN_DECLARATION is
 * defined, this declares it as these do; else the library's header does. The bound is the first argument. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef NBCC_OWN_DECLARATION
void force(double xj[][3], double mj[], double xi[][3], double eps2, double a[][3], int ni, int nj);
#else
#include "nbody.h"
#endif

enum { ni = 301, nj = 1027 };
static double xi[ni][3], xj[nj][3], mj[nj], a[ni][3];

/* Of few bits, so that differences of positions are exact in single precision too. */
static double number(void) {
  static unsigned long long state = 5;
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(state >> 44) / 1048576;
}

/* What is no number is the worst of all, which fmax() would pass over. */
static double worse(double worst, double error) { return isnan(error) ? INFINITY : fmax(worst, error); }

int main(int argc, char** argv) {
  const double eps2 = 0.01, bound = argc > 1 ? atof(argv[1]) : 0;
  double worst = 0;
  for (int i = 0; i < ni; ++i) {
    for (int d = 0; d < 3; ++d) xi[i][d] = number();
  }
  for (int j = 0; j < nj; ++j) {
    for (int d = 0; d < 3; ++d) xj[j][d] = number();
    mj[j] = number() / nj;
  }
  force(xj, mj, xi, eps2, a, ni, nj);
  for (int i = 0; i < ni; ++i) {
    double sum[3] = {0, 0, 0}, terms = 0;
    for (int j = 0; j < nj; ++j) {
      double dx[3], r2 = eps2;
      for (int d = 0; d < 3; ++d) dx[d] = xj[j][d] - xi[i][d], r2 += dx[d] * dx[d];
      const double pull = mj[j] / (r2 * sqrt(r2));
      for (int d = 0; d < 3; ++d) sum[d] += pull * dx[d];
      terms += pull * sqrt(r2);
    }
    for (int d = 0; d < 3; ++d) worst = worse(worst, fabs(a[i][d] - sum[d]) / terms);
  }
  printf("force: largest error %.2e of the sum of the terms' lengths\n", worst);
  return worst <= bound ? 0 : 1;
}
