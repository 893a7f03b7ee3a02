/* A driver's force() for acceleration, jerk and potential, linked beside this, against the sum written out. eps is
 * 1/256 in the listing. The bound is the first argument. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void force(double x[][3], double v[][3], double m[], double p[], double a[][3], double jk[][3], int n);

enum { n = 701 };
static double x[n][3], v[n][3], m[n], p[n], a[n][3], jk[n][3];

/* Of few bits, so that differences of positions are exact in single precision too. */
static double number(void) {
  static unsigned long long state = 7;
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(state >> 44) / 1048576;
}

/* What is no number is the worst of all, which fmax() would pass over. */
static double worse(double worst, double error) { return isnan(error) ? INFINITY : fmax(worst, error); }

/* The largest error of particle i, each of the three results relative to the sum of its terms' lengths. */
static double error_of(int i) {
  double acc[3] = {0, 0, 0}, jerk[3] = {0, 0, 0}, pot = 0, acc_terms = 0, jerk_terms = 0, worst = 0;
  for (int j = 0; j < n; ++j) {
    double dx[3], dv[3], r2 = 1.0 / 65536, v2 = 0, xv = 0;
    for (int d = 0; d < 3; ++d) {
      dx[d] = x[j][d] - x[i][d];
      dv[d] = v[j][d] - v[i][d];
      r2 += dx[d] * dx[d];
      v2 += dv[d] * dv[d];
      xv += dx[d] * dv[d];
    }
    const double pull = m[j] / (r2 * sqrt(r2));
    for (int d = 0; d < 3; ++d) {
      acc[d] += pull * dx[d];
      jerk[d] += pull * (dv[d] - 3 * xv / r2 * dx[d]);
    }
    pot -= m[j] / sqrt(r2);
    acc_terms += pull * sqrt(r2);
    jerk_terms += 4 * pull * sqrt(v2);
  }
  for (int d = 0; d < 3; ++d) {
    worst = worse(worst, fabs(a[i][d] - acc[d]) / acc_terms);
    worst = worse(worst, fabs(jk[i][d] - jerk[d]) / jerk_terms);
  }
  return worse(worst, fabs(p[i] / pot - 1));
}

int main(int argc, char** argv) {
  const double bound = argc > 1 ? atof(argv[1]) : 0;
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    for (int d = 0; d < 3; ++d) x[i][d] = number(), v[i][d] = number() - 0.5;
    m[i] = number() / n;
  }
  force(x, v, m, p, a, jk, n);
  for (int i = 0; i < n; ++i) worst = worse(worst, error_of(i));
  printf("force, jerk, potential: largest error %.2e\n", worst);
  return worst <= bound ? 0 : 1;
}
