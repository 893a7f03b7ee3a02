/* A compiled library's sums to a tolerance, with each pair once and over nearest neighbours, against sums written out.
 * Arguments: "with" or "without" the kernels that these need, "call" for calls without handles. Exit code 0 if all is
 * as it should be. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derived.h"

enum { N = 12000, NEAR = 12000, WIDE = 200, PERIODIC = 1500 };
static double x[N][3], m[N], acc[N][3], pot[N], exact[N];
static int64_t near[NEAR][8];
static double dist[NEAR][8], dx[NEAR][24];
static double rows[WIDE][96], products[WIDE];
static double of_box[PERIODIC];

static void must(nbcc_status status, nbcc_error* error) {
  if (status == NBCC_OK) return;
  fprintf(stderr, "%s\n", nbcc_error_message(error));
  exit(1);
}

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "not so: %s\n", what);
  exit(1);
}

/* The root mean square of pot / exact - 1. */
static double error_of(int count) {
  double squares = 0;
  for (int i = 0; i < count; ++i) squares += (pot[i] / exact[i] - 1) * (pot[i] / exact[i] - 1);
  return sqrt(squares / count);
}

static void set_particles(void) {
  unsigned long long state = 12345;
  for (int k = 0; k < N; ++k) {
    for (int c = 0; c < 3; ++c) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      x[k][c] = (double)(state >> 11) / 9007199254740992.0;
    }
    m[k] = 1.0 / N;
  }
  for (int k = 0; k < WIDE; ++k)
    for (int c = 0; c < 96; ++c) rows[k][c] = (double)((k * 7 + c * 3) % 11) / 8;
  for (int i = 0; i < N; ++i) {
    exact[i] = 0;
    for (int j = 0; j < N; ++j) {
      const double a = x[j][0] - x[i][0], b = x[j][1] - x[i][1], c = x[j][2] - x[i][2];
      exact[i] -= m[j] / sqrt(a * a + b * b + c * c + 1e-4);
    }
  }
}

static nbcc_statistics statistics_of(nbcc_sum* sum) {
  nbcc_statistics found = {.size = sizeof found};
  must(nbcc_sum_get_statistics(sum, &found, NULL), NULL);
  return found;
}

static void refuses(nbcc_status status, nbcc_error* error, const char* expected) {
  expect(status == NBCC_ERROR_USAGE, expected);
  if (strcmp(nbcc_error_message(error), expected) != 0) fprintf(stderr, "got: %s\n", nbcc_error_message(error));
  expect(strcmp(nbcc_error_message(error), expected) == 0, expected);
  nbcc_error_free(error);
}

static void sum_gravity(nbcc_device* device, int has_kernels) {
  nbcc_error* error = NULL;
  nbcc_pipeline* pipeline = NULL;
  nbcc_sum* sum = NULL;
  must(gravity_open(device, &pipeline, &error), error);
  must(nbcc_sum_create(pipeline, &sum, &error), error);
  must(gravity_bind(sum, N, x, N, x, m, 1e-4, acc, pot, &error), error);
  if (!has_kernels) {
    const nbcc_status status = nbcc_sum_set_tolerance(sum, 1e-3, NULL, &error);
    refuses(status, error,
            "tolerance: pipeline 'gravity' has no far field: the library has no kernel for it: nbcc compile --with "
            "tolerance");
    error = NULL;
  } else {
    const double tolerances[] = {1e-2, 1e-3, 1e-9};
    for (int k = 0; k < 3; ++k) {
      must(nbcc_sum_set_tolerance(sum, tolerances[k], NULL, &error), error);
      must(nbcc_sum_run(sum, NULL, &error), error);
      const nbcc_statistics found = statistics_of(sum);
      printf("tolerance %g: %s, %s precision, order %d, error %.2g, written out %.2g\n", tolerances[k], found.method,
             found.precision, found.order, found.error, error_of(N));
      expect(found.tolerance == tolerances[k] && found.sampled > 0, "the error is measured");
      expect(error_of(N) < 1.3 * tolerances[k], "the tolerance is kept");
      expect(k > 0 || found.order > 0, "the far field is used");
      expect(k < 2 || strcmp(found.precision, "double") == 0, "the precision is raised");
    }
    must(nbcc_sum_set_tolerance(sum, 0, NULL, &error), error);
  }
  must(nbcc_sum_set_symmetric(sum, NBCC_SYMMETRIC_ALWAYS, &error), error);
  must(nbcc_sum_run(sum, NULL, &error), error);
  const nbcc_statistics found = statistics_of(sum);
  printf("symmetric: %s\n", found.method);
  expect(error_of(N) < 1e-5, "the sums of pairs");
  expect(strcmp(found.method, has_kernels ? "symmetric" : "all pairs") == 0, "the method of each pair once");
  expect(
      has_kernels || strstr(found.reason, "symmetric: the library has no kernel for it: nbcc compile --with symmetric"),
      "the reason");
  double cost = 0;
  if (has_kernels && strncmp(nbcc_device_name(device), "cpu", 3) == 0) {
    must(nbcc_pipeline_listed_once(pipeline, &cost, &error), error);
    expect(cost > 0.4 && cost < 1, "the cost of each pair once");
  } else { /* GPUs compute listed pairs for their i only */
    expect(nbcc_pipeline_listed_once(pipeline, &cost, NULL) == NBCC_ERROR_USAGE, "nbcc_pipeline_listed_once");
  }
  nbcc_sum_destroy(sum);
  nbcc_pipeline_close(pipeline);
}

static void sum_nearest(nbcc_device* device, int has_kernels) {
  nbcc_error* error = NULL;
  nbcc_pipeline* pipeline = NULL;
  nbcc_sum* sum = NULL;
  must(k_nearest_open(device, &pipeline, &error), error);
  must(nbcc_sum_create(pipeline, &sum, &error), error);
  must(k_nearest_bind(sum, NEAR, x, NEAR, x, 1, near, dist, (void*)dx, &error), error);
  must(nbcc_sum_run(sum, NULL, &error), error);
  const nbcc_statistics found = statistics_of(sum);
  printf("nearest: %s, %s\n", found.method, found.reason);
  expect(strcmp(found.method, has_kernels ? "nearest" : "all pairs") == 0, "the method of nearest neighbours");
  expect(has_kernels || strstr(found.reason, "nearest: the library has no kernel for it: nbcc compile --with nearest"),
         "the reason of all pairs");
  for (int i = 0; i < NEAR; i += 17) {
    int nearer = 0;
    for (int j = 0; j < NEAR; ++j) {
      const double a = x[j][0] - x[i][0], b = x[j][1] - x[i][1], c = x[j][2] - x[i][2];
      nearer += j != i && sqrt(a * a + b * b + c * c) < dist[i][7] * (1 - 1e-5);
    }
    expect(nearer == 7, "seven are nearer than the eighth");
  }
  nbcc_sum_destroy(sum);
  nbcc_pipeline_close(pipeline);
}

/* The loop stays a loop in the library's kernel. On a CPU, which has no matrix instructions, a tolerance measures the
 * error of all pairs. */
static void sum_wide(nbcc_device* device, int has_kernels) {
  nbcc_error* error = NULL;
  nbcc_pipeline* pipeline = NULL;
  nbcc_sum* sum = NULL;
  must(wide_open(device, &pipeline, &error), error);
  must(nbcc_sum_create(pipeline, &sum, &error), error);
  must(wide_bind(sum, WIDE, rows, WIDE, rows, products, &error), error);
  must(nbcc_sum_run(sum, NULL, &error), error);
  for (int i = 0; i < WIDE; ++i) {
    double expected = 0;
    for (int j = 0; j < WIDE; ++j) {
      double alike = 0;
      for (int c = 0; c < 96; ++c) alike += rows[i][c] * rows[j][c];
      expected += alike * alike;
    }
    expect(fabs(products[i] - expected) < 1e-5 * expected, "wide products");
  }
  if (!has_kernels) {
    const nbcc_status status = nbcc_sum_set_tolerance(sum, 1e-3, NULL, &error);
    refuses(status, error,
            "tolerance: pipeline 'wide' has no far field: the library has no kernel for it: nbcc compile --with "
            "tolerance");
  } else {
    const int is_cpu = strncmp(nbcc_device_name(device), "cpu", 3) == 0;
    double exact_products[WIDE];
    memcpy(exact_products, products, sizeof products);
    must(nbcc_sum_set_tolerance(sum, 1e-2, NULL, &error), error);
    must(nbcc_sum_run(sum, NULL, &error), error);
    const nbcc_statistics found = statistics_of(sum);
    printf("wide: %s, error %.2g, %s\n", found.method, found.error, found.reason);
    expect(strcmp(found.method, is_cpu ? "all pairs" : "matrix units") == 0, "the method of wide products");
    expect(!is_cpu || strstr(found.reason, "products take the place of differences"), "the reason of a CPU");
    expect(found.sampled > 0 && found.error <= 1e-2, "the error of wide products is measured");
    for (int i = 0; i < WIDE; ++i) expect(fabs(products[i] / exact_products[i] - 1) < 5e-2, "products to a tolerance");
  }
  nbcc_sum_destroy(sum);
  nbcc_pipeline_close(pipeline);
}

static void sum_periodic(nbcc_device* device, int has_kernels) {
  nbcc_error* error = NULL;
  nbcc_pipeline* pipeline = NULL;
  nbcc_sum* sum = NULL;
  must(periodic_open(device, &pipeline, &error), error);
  must(nbcc_sum_create(pipeline, &sum, &error), error);
  must(periodic_bind(sum, PERIODIC, x, PERIODIC, x, m, pot, &error), error);
  if (!has_kernels) {
    expect(nbcc_sum_run(sum, NULL, NULL) == NBCC_ERROR_USAGE, "a periodic sum needs a tolerance");
    expect(nbcc_sum_set_tolerance(sum, 1e-2, NULL, NULL) == NBCC_ERROR_USAGE, "which needs kernels");
  } else {
    must(nbcc_sum_set_tolerance(sum, 1e-4, NULL, &error), error);
    must(nbcc_sum_run(sum, NULL, &error), error);
    memcpy(of_box, pot, sizeof of_box);
    must(nbcc_sum_set_tolerance(sum, 1e-2, NULL, &error), error);
    must(nbcc_sum_run(sum, NULL, &error), error);
    const nbcc_statistics found = statistics_of(sum);
    printf("periodic: %s, %d images, error %.2g\n", found.method, found.images, found.error);
    expect(found.images > 1 && found.error <= 1e-2, "a periodic sum");
    /* The terms of the near images are some 2.4 in a box of masses 1 / N with a length of 1, times PERIODIC / N. */
    double squares = 0;
    for (int i = 0; i < PERIODIC; ++i) squares += (pot[i] - of_box[i]) * (pot[i] - of_box[i]);
    expect(sqrt(squares / PERIODIC) < 1e-2 * 2.4 * 9 * PERIODIC / N, "two tolerances of a periodic sum");
  }
  nbcc_sum_destroy(sum);
  nbcc_pipeline_close(pipeline);
}

int main(int count, char** words) {
  (void)count;
  const int has_kernels = strcmp(words[1], "with") == 0;
  nbcc_error* error = NULL;
  nbcc_device* device = NULL;
  set_particles();
  if (strcmp(words[1], "call") == 0) {
    expect(gravity(N, x, N, x, m, 1e-4, NULL, pot) == NBCC_OK, nbcc_last_error());
    printf("call: written out %.2g\n", error_of(N));
    expect(error_of(N) < 1.3e-3 && error_of(N) > 1e-6, "NBCC_TOLERANCE is kept, and used");
    return 0;
  }
  const nbcc_device_options one = {.size = sizeof one, .threads = 1};
  const char* const asked = getenv("NBCC_DEVICE"); /* for machines with a GPU */
  must(nbcc_device_open(asked ? asked : "cpu", &one, &device, &error), error);
  sum_gravity(device, has_kernels);
  sum_nearest(device, has_kernels);
  sum_wide(device, has_kernels);
  sum_periodic(device, has_kernels);
  nbcc_device_close(device);
  return 0;
}
