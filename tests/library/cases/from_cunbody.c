/* The shared numeric cases through CUNBODY-1's interface in C: gravity by force(), and a pipeline of numbered fields by
 * cunbody_api(). What they say to arguments that are wrong.
 *
 *   from_cunbody CASES single|mixed|double      the precision of the library, which is called nbody */
#include "nbody.h"
#include "cunbody_api.h"
#include "read_cases.h"

static void expect(int is_so, const char* what) {
  if (is_so) return;
  printf("wrong: %s (%s)\n", what, nbcc_last_error());
  ++failures;
}

static void run_rows(void) {
  double(*xi)[IDIM] = (double(*)[IDIM])numbers("INPUT_I", IDIM * ni);
  double(*xj)[JDIM] = (double(*)[JDIM])numbers("INPUT_J", JDIM * nj);
  double(*f)[FDIM] = new_array(ni, sizeof *f);
  expect(cunbody_api(xj, xi, f, (int)ni, (int)nj) == 0, "cunbody_api()");
  compare("OUTPUT", f[0], FDIM * ni, 0);
}

static int all_are_nan(const double* values, int count) {
  for (int k = 0; k < count; ++k) {
    if (!isnan(values[k])) return 0;
  }
  return 1;
}

static void wrong_rows(void) {
  double xj[1][JDIM] = {{0}}, xi[2][IDIM] = {{0}}, f[2][FDIM];
  for (int k = 0; k < 2 * FDIM; ++k) f[k / FDIM][k % FDIM] = 7;
  expect(cunbody_api(xj, xi, f, -2, 1) == NBCC_ERROR_USAGE, "a negative number of i");
  expect(strstr(nbcc_last_error(), "-2") != NULL, "what is said of it");
  expect(f[0][0] == 7 && f[1][FDIM - 1] == 7, "results without any i");
  expect(cunbody_api(xj, xi, NULL, 2, 1) == NBCC_ERROR_USAGE, "no f");
  expect(cunbody_api(NULL, NULL, NULL, 0, 0) == 0, "nothing of nothing");
  const struct {
    double(*xj)[JDIM], (*xi)[IDIM];
    int nj;
    const char* what;
  } wrong[] = {{xj, xi, -1, "a negative number of j"}, {NULL, xi, 1, "no xj"}, {xj, NULL, 1, "no xi"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
    f[1][FDIM - 1] = 7;
    expect(cunbody_api(wrong[k].xj, wrong[k].xi, f, 2, wrong[k].nj) == NBCC_ERROR_USAGE, wrong[k].what);
    expect(all_are_nan(f[0], 2 * FDIM), "f after mistakes is NaN");
  }
}

#ifdef HAS_FORCE
static void run_force(void) {
  double(*xi)[3] = (double(*)[3])numbers("xi", 3 * ni);
  double(*xj)[3] = (double(*)[3])numbers("xj", 3 * nj);
  double* mj = numbers("mj", nj);
  const double eps2 = *numbers("eps2", 1);
  double(*acc)[3] = new_array(ni, sizeof *acc);
  double* pot = new_array(ni, sizeof *pot);
  force(xj, mj, xi, eps2, acc, (int)ni, (int)nj);
  compare("acc", acc[0], 3 * ni, 0);
  /* force() gives no potential: its numbers are passed over. */
  memcpy(pot, numbers("pot", ni), (size_t)ni * sizeof *pot);
  numbers("single", ni);
  numbers("double", ni);
}

static void wrong_force(void) {
  double xj[1][3] = {{1, 0, 0}}, mj[1] = {1}, xi[2][3] = {{0}}, a[2][3] = {{7, 7, 7}, {7, 7, 7}};
  force(xj, mj, xi, 0, a, -2, 1);
  expect(a[0][0] == 7 && a[1][2] == 7, "accelerations without any i");
  force(xj, mj, xi, 0, NULL, 2, 1);
  force(NULL, NULL, NULL, 0, NULL, 0, 0);
  const struct {
    double(*xj)[3], *mj, (*xi)[3];
    int nj;
    const char* what;
  } wrong[] = {{xj, mj, xi, -1, "force() of a negative number of j"},
               {NULL, mj, xi, 1, "force() without xj"},
               {xj, NULL, xi, 1, "force() without mj"},
               {xj, mj, NULL, 1, "force() without xi"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
    a[1][2] = 7;
    force(wrong[k].xj, wrong[k].mj, wrong[k].xi, 0, a, 2, wrong[k].nj);
    expect(all_are_nan(a[0], 6), wrong[k].what);
  }
}
#endif

static void run_case(void) {
#ifdef HAS_FORCE
  if (strcmp(pipeline, "gravity") == 0) {
    run_force();
    return;
  }
#endif
  run_rows();
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  precision = argv[2];
  run_all(argv[1], run_case);
  wrong_rows();
#ifdef HAS_FORCE
  wrong_force();
#endif
  printf("CUNBODY from C, %s: %d cases, %d failures\n", precision, done, failures);
  return done == 0 || failures != 0;
}
