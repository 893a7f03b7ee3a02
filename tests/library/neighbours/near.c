/* A compiled library's sums over all pairs and over those that a search finds. Exit code 0 if they are equal. */
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
