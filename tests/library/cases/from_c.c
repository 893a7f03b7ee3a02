/* The shared numeric cases through a compiled library's C functions, for arrays of double and of float; and what the
 * functions and handles say to arguments that are wrong.
 *
 *   from_c CASES single|mixed|double      the precision of the library */
#include <float.h>

#include "cases.h"
#include "read_cases.h"

static void expect(int is_so, const char* what) {
  if (is_so) return;
  printf("wrong: %s (%s)\n", what, nbcc_last_error());
  ++failures;
}

static double param(const char* field) { return *numbers(field, 1); }

#define REAL double
#define OF_FLAVOUR(name) name##_of_double
#define CALL(name) name
#include "from_c_pipelines.h"
#undef REAL
#undef OF_FLAVOUR
#undef CALL
#define REAL float
#define OF_FLAVOUR(name) name##_of_float
#define CALL(name) name##_f
#include "from_c_pipelines.h"

static const double xi[2][3] = {{0, 0, 0}, {1, 1, 1}}, xj[1][3] = {{1, 0, 0}}, mj[1] = {1};

static void wrong_arguments_of_functions(void) {
  double acc[2][3], pot[2];
  memset(acc, 7, sizeof acc);
  memset(pot, 7, sizeof pot);
  const double before = pot[1];
  expect(gravity(-1, xi, 1, xj, mj, 0, acc, pot) == NBCC_ERROR_USAGE, "a negative number of i");
  expect(gravity(2, xi, -1, xj, mj, 0, acc, pot) == NBCC_ERROR_USAGE, "a negative number of j");
  expect(gravity(2, NULL, 1, xj, mj, 0, acc, pot) == NBCC_ERROR_USAGE, "no xi");
  expect(gravity(2, xi, 1, NULL, mj, 0, acc, pot) == NBCC_ERROR_USAGE, "no xj");
  expect(gravity(2, xi, 1, xj, NULL, 0, acc, pot) == NBCC_ERROR_USAGE, "no mj");
  expect(strstr(nbcc_last_error(), "mj") != NULL, "what is said of no mj");
  expect(acc[0][0] == before && acc[1][2] == before && pot[0] == before && pot[1] == before, "outputs after mistakes");
  expect(gravity_f(INT64_MIN, NULL, INT64_MIN, NULL, NULL, 0, NULL, NULL) == NBCC_ERROR_USAGE, "far below nothing");
  int64_t near[1];
  expect(nearest_neighbour(1, xi, 1, NULL, 0, near, NULL) == NBCC_ERROR_USAGE, "no xj of nearest_neighbour");
}

static void wrong_arguments_of_handles(void) {
  nbcc_device* device = NULL;
  nbcc_pipeline* opened = NULL;
  nbcc_sum* sum = NULL;
  double acc[2][3] = {{7, 7, 7}, {7, 7, 7}}, pot[2] = {7, 7};
  expect(nbcc_device_open("gpu", NULL, &device, NULL) == NBCC_ERROR_USAGE ||
             nbcc_device_open("gpu", NULL, &device, NULL) == NBCC_ERROR_DEVICE,
         "a device that does not exist");
  const int failed = nbcc_device_open("cpu", NULL, &device, NULL) || gravity_open(device, &opened, NULL) ||
                     nbcc_sum_create(opened, &sum, NULL);
  expect(!failed, "opening");
  if (failed) return;
  expect(nbcc_sum_run(sum, NULL, NULL) == NBCC_ERROR_USAGE, "a run without arrays");
  expect(gravity_bind(sum, 2, xi, -1, xj, mj, 0, acc, pot, NULL) == NBCC_ERROR_USAGE, "binding a negative number");
  expect(gravity_bind(sum, 2, NULL, 1, xj, mj, 0, acc, pot, NULL) == NBCC_ERROR_USAGE, "binding no xi");
  expect(gravity_bind(sum, 2, xi, 1, xj, mj, 0, acc, pot, NULL) == NBCC_OK, "binding");
  const double values[2] = {1, 2};
  const nbcc_view longer = {(void*)values, NBCC_DOUBLE_ELEMENT, 2, 8, 8};
  const nbcc_view nowhere = {NULL, NBCC_DOUBLE_ELEMENT, 1, 8, 8};
  const nbcc_view negative = {(void*)values, NBCC_DOUBLE_ELEMENT, -1, 8, 8};
  expect(nbcc_sum_bind(sum, "mj", &nowhere, NULL) == NBCC_ERROR_USAGE, "a view of nothing");
  expect(nbcc_sum_bind(sum, "mj", &negative, NULL) == NBCC_ERROR_USAGE, "a view of a negative number");
  expect(nbcc_sum_bind(sum, "mass", &longer, NULL) == NBCC_ERROR_USAGE, "a field that does not exist");
  expect(nbcc_sum_set_param(sum, "eps2", values, 2, NULL) == NBCC_ERROR_USAGE, "too many values of a param");
  nbcc_error* error = NULL;
  const int refused = nbcc_sum_bind(sum, "mj", &longer, &error) || nbcc_sum_run(sum, NULL, &error);
  expect(refused && nbcc_error_status(error) == NBCC_ERROR_USAGE, "two masses for one j-particle");
  expect(strstr(nbcc_error_message(error), "mj") || strstr(nbcc_error_message(error), "xj"), "what is said of them");
  nbcc_error_free(error);
  expect(acc[1][2] == 7 && pot[0] == 7, "outputs after mistakes with handles");
  nbcc_sum_destroy(sum);
  nbcc_pipeline_close(opened);
  nbcc_device_close(device);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  precision = argv[2];
  run_all(argv[1], run_case_of_double);
  run_all(argv[1], run_case_of_float);
  wrong_arguments_of_functions();
  wrong_arguments_of_handles();
  printf("C, %s: %d cases, %d failures\n", precision, done, failures);
  return done == 0 || failures != 0;
}
