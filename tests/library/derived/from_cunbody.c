/* cunbody_api() with and without NBCC_TOLERANCE. Argument: "exact", "tolerance", or "refused" for a text that is no
 * tolerance. Exit code 0 if all is as it should be. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cunbody_api.h"

enum { N = 12000 };
static double xi[N][IDIM], xj[N][JDIM], f[N][FDIM];

int main(int count, char** words) {
  (void)count;
  unsigned long long state = 999;
  for (int k = 0; k < N; ++k) {
    for (int c = 0; c < 3; ++c) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      xi[k][c] = xj[k][c] = (double)(state >> 11) / 9007199254740992.0;
    }
    xi[k][3] = 1e-4;
    xj[k][3] = 1.0 / N;
  }
  const int status = cunbody_api(xj, xi, f, N, N);
  if (strcmp(words[1], "refused") == 0) return status != 0 && isnan(f[0][0]) ? 0 : 1;
  /* The rms of |error| / sum of |terms| of some bodies. */
  double squares = 0;
  int bodies = 0;
  for (int i = 0; i < N; i += 50, ++bodies) {
    double sum[3] = {0}, terms = 0, error = 0;
    for (int j = 0; j < N; ++j) {
      const double d[3] = {xj[j][0] - xi[i][0], xj[j][1] - xi[i][1], xj[j][2] - xi[i][2]};
      const double inv = 1 / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-4), pull = inv * inv * inv / N;
      for (int c = 0; c < 3; ++c) sum[c] += pull * d[c];
      terms += pull * sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    for (int c = 0; c < 3; ++c) error += (f[i][c] - sum[c]) * (f[i][c] - sum[c]);
    squares += error / (terms * terms);
  }
  const double error = sqrt(squares / bodies);
  printf("%s: %.2g\n", words[1], error);
  if (status != 0) return 1;
  return strcmp(words[1], "exact") == 0 ? error > 1e-6 : error > 1.3e-2 || error < 1e-5;
}
