/* Totals of a compiled library in C: numbers, vectors and arrays, some of them ignored; and a function without other
 * outputs, whose ni is that of its inputs. */
#include <math.h>
#include <stdio.h>

#include "totals.h"

static int failures = 0;
static void expect(int line, double got, double expected) {
  if (got == expected) return;
  printf("line %d: got %g, expected %g\n", line, got, expected);
  ++failures;
}
#define EXPECT(got, expected) expect(__LINE__, got, expected)

int main(void) {
  const double x[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}}, m[3] = {1, 2, 4}, a[4] = {1, 2, 3, 4}, b[2] = {10, 20};
  double force[3][3], moment[3] = {7, 7, 7}, most[2] = {7, 7}, energy = 7, product = 7, least = 7;
  int32_t pairs = 7;
  int64_t indices = 7;
  if (energies(3, x, m, 3, x, m, force, &energy, moment, most, &pairs, &indices) != 0) {
    printf("%s\n", nbcc_last_error());
    return 1;
  }
  EXPECT(energy, 2 * (2 * 1 + 4 * 4 + 8 * 5));
  for (int c = 0; c < 3; ++c) EXPECT(moment[c], force[0][c] + force[1][c] + force[2][c]);
  EXPECT(moment[0], 2 - 1 - 4 + 2);
  EXPECT(most[0], 4);
  EXPECT(most[1], 4);
  EXPECT(pairs, 3);
  EXPECT(indices, 9);

  /* Of arrays of float, too, totals are double. */
  float force_f[3][3];
  double energy_f = 7, most_f[2];
  const float x_f[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}}, m_f[3] = {1, 2, 4};
  EXPECT(energies_f(3, x_f, m_f, 3, x_f, m_f, force_f, &energy_f, NULL, most_f, NULL, NULL), 0);
  EXPECT(energy_f, 116);
  EXPECT(most_f[1], 4);

  /* Ignored: nothing is written. */
  energy = 7;
  EXPECT(energies(3, x, m, 3, x, m, NULL, NULL, moment, NULL, &pairs, NULL), 0);
  EXPECT(energy, 7);

  EXPECT(alone(4, a, 2, b, 3, &product, &least), 0);
  EXPECT(product, 3 * 10 * 30);
  EXPECT(least, 11);
  EXPECT(alone(0, a, 2, b, 3, &product, &least), 0);
  EXPECT(product, 0);
  EXPECT(least, INFINITY);

  /* Histograms are arrays of all their elements; pairs that name no element are not counted. */
  static int64_t n[500];
  static double g[500];
  const double w[2] = {0.5, 1e300}, far[2] = {498, -12};
  EXPECT(histograms(4, a, 2, far, w, n, g), 0);
  EXPECT(n[498], 0);
  EXPECT(n[499], 1);
  EXPECT(g[499], 0.5);
  EXPECT(histograms(4, a, 2, b, w, n, g), 0);
  EXPECT(n[499], 0);
  for (int k = 11; k < 25; ++k) {
    EXPECT(n[k], k < 15 || k > 20);
    EXPECT(g[k], k < 15 ? 0.5 : k > 20 ? 1e300 : 0);
  }
  EXPECT(histograms(4, a, 2, far, w, NULL, g), 0);
  EXPECT(n[11], 1);
  EXPECT(g[11], 0);
  return failures != 0;
}
