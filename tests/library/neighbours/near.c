/* A compiled library's sums over all pairs and over those that a search finds, which must be equal; and over bonds.
 * Exit code 0 if all is as it should be. */
#include "near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 2000 };
static double x[N][3], h[N], count[2][N];
static int64_t nearest[2][N];
static const double box[3] = {1, 1, 1};

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

static nbcc_view column(const void* numbers, int64_t count, int64_t components) {
  const int64_t size = sizeof(double);
  const nbcc_view view = {(void*)(size_t)numbers, NBCC_DOUBLE_ELEMENT, count, components * size, size};
  return view;
}

/* A chain of three atoms at 0, 1 and 3 on a line, both bonds listed from both ends. */
static void expect_bonds(nbcc_device* device) {
  const double place[3][3] = {{0, 0, 0}, {1, 0, 0}, {3, 0, 0}}, k[4] = {2, 2, 10, 10}, r0[4] = {0.5, 0.5, 1.5, 1.5};
  const int64_t first[] = {0, 1, 3, 4}, other[] = {1, 0, 2, 1};
  double force[3][3], energy[3];
  const struct {
    const char* name;
    nbcc_view view;
  } fields[] = {{"xi", column(place, 3, 3)},    {"xj", column(place, 3, 3)}, {"k", column(k, 4, 1)}, {"r0", column(r0, 4, 1)},
                {"force", column(force, 3, 3)}, {"energy", column(energy, 3, 1)}};
  nbcc_error* error = NULL;
  nbcc_pipeline* pipeline = NULL;
  nbcc_sum* sum = NULL;
  must(bonds_open(device, &pipeline, &error), error);
  must(nbcc_sum_create(pipeline, &sum, &error), error);
  for (size_t f = 0; f < sizeof fields / sizeof *fields; ++f)
    must(nbcc_sum_bind(sum, fields[f].name, &fields[f].view, &error), error);
  expect(nbcc_sum_run(sum, NULL, NULL) == NBCC_ERROR_USAGE, "pairs must be listed");
  must(nbcc_sum_set_listed_pairs(sum, 3, first, 4, other, &error), error);
  must(nbcc_sum_run(sum, NULL, &error), error);
  /* Stretched by 0.5 each: 2 k 0.5 along the line, k 0.25 / 2 of energy at either end. */
  expect(fabs(force[0][0] - 2) < 1e-12 && fabs(force[1][0] - 8) < 1e-12 && fabs(force[2][0] + 10) < 1e-12, "forces");
  expect(fabs(energy[0] - 0.25) < 1e-12 && fabs(energy[1] - 1.5) < 1e-12 && fabs(energy[2] - 1.25) < 1e-12, "energies");
  nbcc_sum_destroy(sum);
  nbcc_pipeline_close(pipeline);
}

int main(void) {
  for (int i = 0; i < N; ++i) {
    for (int c = 0; c < 3; ++c) x[i][c] = fmod((i + 1) * sqrt(2.0 + c), 1.0);
    h[i] = 0.05 + 0.1 * i / N;
  }
  nbcc_error* error = NULL;
  nbcc_device* device = NULL;
  nbcc_pipeline *pipeline = NULL, *everywhere = NULL;
  nbcc_sum* sum = NULL;
  nbcc_statistics found = {.size = sizeof found};
  must(nbcc_device_open("cpu", NULL, &device, &error), error);
  must(near_open(device, &pipeline, &error), error);
  expect(strcmp(nbcc_pipeline_neighbours(pipeline), "") != 0, "neighbours are proved");
  must(nbcc_sum_create(pipeline, &sum, &error), error);
  for (int k = 0; k < 2; ++k) {
    must(near_bind(sum, N, x, h, N, x, box, count[k], nearest[k], &error), error);
    must(nbcc_sum_set_pairs(sum, k == 0 ? NBCC_PAIRS_ALL : NBCC_PAIRS_CUTOFF, &error), error);
    must(nbcc_sum_run(sum, NULL, &error), error);
    must(nbcc_sum_get_statistics(sum, &found, &error), error);
    expect(found.searches == k, "the second run searches");
  }
  expect(found.pairs_tested < N * N / 4, "a search leaves most pairs out");
  expect(memcmp(count[0], count[1], sizeof count[0]) == 0, "the same pairs");
  expect(memcmp(nearest[0], nearest[1], sizeof nearest[0]) == 0, "the same nearest ones");
  double all = 0;
  for (int i = 0; i < N; ++i) all += count[1][i];
  expect(all > N, "there are some");

  expect_bonds(device);
  must(gravity_open(device, &everywhere, &error), error);
  nbcc_sum_destroy(sum);
  must(nbcc_sum_create(everywhere, &sum, &error), error);
  expect(nbcc_sum_set_pairs(sum, NBCC_PAIRS_CUTOFF, NULL) == NBCC_ERROR_USAGE, "gravity has no neighbours");
  nbcc_sum_destroy(sum);
  nbcc_pipeline_close(everywhere);
  nbcc_pipeline_close(pipeline);
  nbcc_device_close(device);
  return 0;
}
