/* How fast are the sums of a CUNBODY program, and how far off are they? For N = 1024, 2048, ... a Plummer sphere pulls
 * itself; times are of the whole call, errors of the accelerations relative to plain sums in double precision.
 * Operations are counted as 38 an interaction (T. Hamada & T. Iitaka 2007, tables 2 and 3).
 *
 *   table [LARGEST_N]          default: 16384
 *
 * Exit code: 0; 1 if an error is more than 1e-3 or not a number; 2 for wrong arguments; 3 without memory. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void force(double xj[][3], double mj[], double xi[][3], double eps2, double a[][3], int ni, int nj);

static const double eps2 = 0.01;
static const double limit = 1e-3; /* of the relative error of a sum in single precision */
enum { checked = 256 }; /* particles whose sums are made again */

static double random_number(void) { /* between 0 and 1, and neither; the same everywhere */
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return ((double)(state >> 12) + 0.5) / 4503599627370496.0;
}

static void plummer(double x[][3], double m[], int n) {
  for (int k = 0; k < n; k++) {
    const double r = 1 / sqrt(pow(random_number(), -2.0 / 3) - 1);
    const double z = 2 * random_number() - 1, phi = 6.283185307179586 * random_number();
    x[k][0] = r * sqrt(1 - z * z) * cos(phi);
    x[k][1] = r * sqrt(1 - z * z) * sin(phi);
    x[k][2] = r * z;
    m[k] = 1.0 / n;
  }
}

static double error_of(double x[][3], const double m[], const double got[3], int i, int n) {
  double a[3] = {0, 0, 0}, off = 0, size = 0;
  for (int j = 0; j < n; j++) {
    const double dx = x[j][0] - x[i][0], dy = x[j][1] - x[i][1], dz = x[j][2] - x[i][2];
    const double r2 = dx * dx + dy * dy + dz * dz + eps2, pull = m[j] / (r2 * sqrt(r2));
    a[0] += pull * dx;
    a[1] += pull * dy;
    a[2] += pull * dz;
  }
  for (int d = 0; d < 3; d++) {
    off += (got[d] - a[d]) * (got[d] - a[d]);
    size += a[d] * a[d];
  }
  return sqrt(off / size);
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char** words) {
  const int largest = count > 1 ? atoi(words[1]) : 16384;
  if (largest < 1024 || largest > 1 << 22) {
    fprintf(stderr, "table: a number of particles from 1024 to %d, not '%s'\n", 1 << 22, words[1]);
    return 2;
  }
  double(*const x)[3] = malloc(sizeof *x * (size_t)largest), (*const a)[3] = malloc(sizeof *a * (size_t)largest);
  double* const m = malloc(sizeof *m * (size_t)largest);
  if (!x || !a || !m) return 3;
  int wrong = 0;
  printf("%8s %12s %10s %12s %12s\n", "N", "seconds", "GFLOP/s", "largest", "rms error");
  for (int n = 1024; n <= largest; n *= 2) {
    plummer(x, m, n);
    double best = 1e30, most = 0, squares = 0;
    for (int run = 0; run < 4; run++) { /* the first one may have to load the kernel */
      const double begin = seconds();
      force(x, m, x, eps2, a, n, n);
      const double took = seconds() - begin;
      if (took < best) best = took;
    }
    for (int k = 0; k < checked; k++) {
      const int i = (int)((int64_t)k * n / checked);
      const double error = error_of(x, m, a[i], i, n);
      if (!(error <= most) && most == most) most = error; /* NaN, once met, stays */
      squares += error * error;
    }
    printf("%8d %12.3e %10.1f %12.1e %12.1e\n", n, best, 38e-9 * n * n / best, most, sqrt(squares / checked));
    if (!(most <= limit)) {
      fprintf(stderr, "table: N = %d: the largest relative error is %g, expected at most %g\n", n, most, limit);
      wrong = 1;
    }
  }
  free(x), free(a), free(m);
  return wrong;
}
