/* Complex numbers of a compiled library in C: arrays of double complex are passed as arrays of pairs. */
#include <complex.h>
#include <stdio.h>

#include "complexes.h"

static int failures = 0;
static void expect(int line, double complex got, double complex expected) {
  if (got == expected) return;
  printf("line %d: got %g + %gi, expected %g + %gi\n", line, creal(got), cimag(got), creal(expected), cimag(expected));
  ++failures;
}
#define EXPECT(got, expected) expect(__LINE__, got, expected)

typedef const double (*pairs)[2];
typedef const float (*pairs_f)[2];

int main(void) {
  const double complex a[2] = {1 + 2 * I, -3}, b[3][2] = {{1, I}, {2 - I, 4}, {5 * I, 1 + I}};
  const double f[2] = {1, 2}, k[2] = {0.5, -1};
  double complex s[2], t[2][2], all;
  if (waves(2, (pairs)a, f, 3, (const double(*)[2][2])b, k, (double(*)[2])s, (double(*)[2][2])t, (double*)&all) != 0) {
    printf("%s\n", nbcc_last_error());
    return 1;
  }
  for (int i = 0; i < 2; ++i) {
    double complex sum = 0;
    for (int j = 0; j < 3; ++j) sum += a[i] * conj(b[j][0]) + 0.5 - I;
    EXPECT(s[i], sum);
    EXPECT(t[i][0], 5 + 2 * I);
    EXPECT(t[i][1], f[i] * (3 + 4 * I));
  }
  EXPECT(all, (a[0] + a[1]) * (5 + 2 * I));

  const float complex a_f[2] = {1 + 2 * I, -3}, b_f[3][2] = {{1, I}, {2 - I, 4}, {5 * I, 1 + I}};
  const float f_f[2] = {1, 2};
  float complex s_f[2];
  EXPECT(waves_f(2, (pairs_f)a_f, f_f, 3, (const float(*)[2][2])b_f, k, (float(*)[2])s_f, NULL, NULL), 0);
  EXPECT(s_f[1], s[1]);
  return failures != 0;
}
