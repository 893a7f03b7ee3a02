/* A compiled library from C: values, errors, handles. One i-particle in the origin; what it must feel is known. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#ifdef STATIC_LIBRARY
#include "fine_forces.h"
#define TOLERANCE 1e-14
#else
#include "forces.h"
#define TOLERANCE 1e-6
#endif

static int failures = 0;

static void expect(int is_so, const char* what) {
  if (is_so) return;
  printf("wrong: %s (%s)\n", what, nbcc_last_error());
  ++failures;
}

static int near(double value, double expected) { return fabs(value - expected) <= TOLERANCE * (1 + fabs(expected)); }

static double xi[1][3] = {{0, 0, 0}}, xj[2][3] = {{1, 0, 0}, {0, 2, 0}}, mj[2] = {1, 4};

static void values(void) {
  double acc[1][3], pot[1];
  expect(gravity(1, xi, 2, xj, mj, 0, acc, pot) == NBCC_OK, "gravity");
  expect(near(acc[0][0], 1) && near(acc[0][1], 1) && near(acc[0][2], 0) && near(pot[0], -3), "its values");
  pot[0] = 7;
  expect(gravity(1, xi, 2, xj, mj, 3, acc, NULL) == NBCC_OK, "gravity without pot");
  expect(near(acc[0][0], 0.125) && pot[0] == 7, "its values without pot");

  const float xif[1][3] = {{0, 0, 0}}, xjf[2][3] = {{5, 0, 0}, {1, 0, 0}};
  const double box[3] = {1e30, 1e30, 1e30};
  float force[1][3], energy[1], virial[1];
  expect(lennard_jones_f(1, xif, 2, xjf, 1, 1, 3, 0, box, force, energy, virial) == NBCC_OK, "lennard_jones_f");
  expect(near(force[0][0], -24) && near(force[0][1], 0) && near(energy[0], 0) && near(virial[0], 12), "its values");
}

static void mistakes(void) {
  double acc[1][3] = {{1, 2, 3}}, pot[1] = {4};
  expect(gravity(-1, xi, 2, xj, mj, 0, acc, pot) == NBCC_ERROR_USAGE, "a negative count");
  expect(strstr(nbcc_last_error(), "-1") != NULL, "what is said of a negative count");
  expect(gravity(1, NULL, 2, xj, mj, 0, acc, pot) == NBCC_ERROR_USAGE, "a null pointer");
  expect(strstr(nbcc_last_error(), "xi") != NULL, "what is said of a null pointer");
  expect(acc[0][0] == 1 && acc[0][2] == 3 && pot[0] == 4, "outputs after a mistake");
  expect(gravity(0, NULL, 0, NULL, NULL, 0, NULL, NULL) == NBCC_OK, "no particles");
}

static void handles(void) {
  nbcc_error* error = NULL;
  nbcc_device* device = NULL;
  nbcc_pipeline* pipeline = NULL;
  nbcc_sum* sum = NULL;
  const nbcc_device_options one_thread = {.size = sizeof one_thread, .threads = 1};
  const nbcc_run_options onto = {.size = sizeof onto, .i_count = -1, .accumulate = 1};
  double acc[1][3] = {{10, 0, 0}}, pot[1] = {0};
  const int failed = nbcc_device_open("cpu", &one_thread, &device, &error) ||
                     gravity_open(device, &pipeline, &error) || nbcc_sum_create(pipeline, &sum, &error) ||
                     gravity_bind(sum, 1, xi, 2, xj, mj, 0, acc, pot, &error) || nbcc_sum_run(sum, &onto, &error);
  expect(!failed, nbcc_error_message(error));
  expect(near(acc[0][0], 11) && near(pot[0], -3), "a sum that is accumulated");
  nbcc_sum_destroy(sum);
  nbcc_pipeline_close(pipeline);
  nbcc_device_close(device);
}

int main(void) {
  values();
  mistakes();
  handles();
  return failures != 0;
}
