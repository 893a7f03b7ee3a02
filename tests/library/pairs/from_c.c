/* Pipelines of listed pairs in a compiled library, from C: calls with arrays of double and of float, handles that keep
 * their pairs, ignored results, and what is refused. */
#include <stdio.h>
#include <string.h>

#include "pairs.h"

static int failures = 0;
static void expect(int line, double got, double expected) {
  if (got == expected) return;
  printf("line %d: got %.17g, expected %.17g\n", line, got, expected);
  ++failures;
}
#define EXPECT(got, expected) expect(__LINE__, got, expected)
static void expect_error(int line, const char* text, const char* expected) {
  if (strstr(text, expected)) return;
  printf("line %d: got '%s', expected '%s'\n", line, text, expected);
  ++failures;
}
#define EXPECT_ERROR(expected) expect_error(__LINE__, nbcc_last_error(), expected)

/* Three particles; the last of the four pairs is too long for a contact. */
enum { N = 3, PAIRS = 4 };
static const double x[N][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}};
static const int64_t first[N + 1] = {0, 2, 2, 4}, j[PAIRS] = {1, 2, 0, 1};

static void expect_contacts(int line, double (*history)[3], double (*force)[3]) {
  const double expected[PAIRS][3] = {{1.5, 0, 1}, {1, 1, 1}, {1, -1, 1}, {0, 0, 0}};
  for (int p = 0; p < PAIRS; ++p)
    for (int c = 0; c < 3; ++c) expect(line, history[p][c], expected[p][c]);
  for (int c = 0; c < 3; ++c) {
    expect(line, force[0][c], expected[0][c] + expected[1][c]);
    expect(line, force[1][c], 0);
    expect(line, force[2][c], expected[2][c]);
  }
}

static void test_calls(void) {
  const double before[PAIRS][3] = {{1, 0, 1}, {1, 0, 1}, {1, 0, 1}, {1, 0, 1}};
  double history[PAIRS][3], force[N][3], pull = 7;
  EXPECT(contacts(N, x, N, x, first, PAIRS, j, before, history, force, &pull), NBCC_OK);
  expect_contacts(__LINE__, history, force);
  EXPECT(pull, 3.25 + 3 + 3);

  /* A result may be its own input of the next call. */
  EXPECT(contacts(N, x, N, x, first, PAIRS, j, (const double(*)[3])history, history, NULL, NULL), NBCC_OK);
  EXPECT(history[0][0], 2);
  EXPECT(history[3][0], 0);

  const float xf[N][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}}, before_f[PAIRS][3] = {{1, 0, 1}};
  float history_f[PAIRS][3], force_f[N][3];
  EXPECT(contacts_f(N, xf, N, xf, first, PAIRS, j, before_f, history_f, force_f, &pull), NBCC_OK);
  EXPECT(history_f[0][0], 1.5);
  EXPECT(history_f[1][1], 1);
  EXPECT(force_f[2][1], -1);

  /* Ignored results; no pairs. */
  EXPECT(contacts(N, x, N, x, first, PAIRS, j, before, NULL, force, NULL), NBCC_OK);
  EXPECT(force[0][0], 2.5);
  const int64_t none[N + 1] = {0, 0, 0, 0};
  EXPECT(contacts(N, x, N, x, none, 0, j, before, history, force, &pull), NBCC_OK);
  EXPECT(force[0][0], 0);
  EXPECT(pull, 0);

  /* Without i there is nothing to list, also after a call with pairs. */
  EXPECT(contacts(0, NULL, N, x, NULL, 0, NULL, NULL, NULL, NULL, NULL), NBCC_OK);
  EXPECT(contacts(N, x, N, x, first, PAIRS, j, before, NULL, NULL, &pull), NBCC_OK);
  EXPECT(contacts(0, NULL, N, x, NULL, 0, NULL, NULL, NULL, NULL, &pull), NBCC_OK);
  EXPECT(pull, 0);

  const double a[N] = {1, 2, 3};
  double lengths[PAIRS];
  int64_t numbers[PAIRS];
  const int64_t expected_numbers[PAIRS] = {1, 2, 200, 201};
  EXPECT(links(N, a, N, a, 10, first, PAIRS, j, lengths, numbers), NBCC_OK);
  for (int p = 0; p < PAIRS; ++p) EXPECT(numbers[p], expected_numbers[p]);
  EXPECT(lengths[0], 10);
  EXPECT(lengths[2], -20);

  const double k[PAIRS][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  double pulls[N][2];
  EXPECT(springs(N, a, N, a, first, PAIRS, j, k, pulls), NBCC_OK);
  EXPECT(pulls[0][0], 1 * 1 + 3 * 2);
  EXPECT(pulls[0][1], 2 * 1 + 4 * 2);
  EXPECT(pulls[2][1], -6 * 2 - 8 * 1);
}

static void test_errors(void) {
  const double before[PAIRS][3] = {{0}}, a[N] = {1, 2, 3};
  double history[PAIRS][3] = {{5}}, force[N][3] = {{5}}, lengths[PAIRS];
  EXPECT(contacts(N, x, N, x, NULL, PAIRS, j, before, history, force, NULL), NBCC_ERROR_USAGE);
  EXPECT_ERROR("first: it is a null pointer, and lists no pairs");
  EXPECT(contacts(0, NULL, N, x, NULL, PAIRS, j, before, history, NULL, NULL), NBCC_ERROR_USAGE);
  EXPECT_ERROR("pairs: first[0], the last, is 0, but there are 4 entries of j");
  EXPECT(contacts(N, x, N, x, first, PAIRS + 1, j, before, history, force, NULL), NBCC_ERROR_USAGE);
  EXPECT_ERROR("pairs: first[3], the last, is 4, but there are 5 entries of j");
  const int64_t wrong[PAIRS] = {1, 2, 3, 0};
  EXPECT(contacts(N, x, N, x, first, PAIRS, wrong, before, history, force, NULL), NBCC_ERROR_USAGE);
  EXPECT_ERROR("pairs: j[2] is 3, but there are 3 j-particles");
  EXPECT(contacts(N, x, N, x, first, PAIRS, j, NULL, history, force, NULL), NBCC_ERROR_USAGE);
  EXPECT_ERROR("input_pair 'before' of pipeline 'contacts': no data (a null pointer) for 4 ");
  EXPECT(links(N, NULL, N, a, 10, first, PAIRS, j, lengths, NULL), NBCC_ERROR_USAGE);
  EXPECT_ERROR("input_i 'first' of pipeline 'links': no data (a null pointer) for 3 particles");
  EXPECT(history[0][0], 5);
  EXPECT(force[0][0], 5);
}

static int test_handles(void) {
  const double before[PAIRS][3] = {{1, 0, 1}, {1, 0, 1}, {1, 0, 1}, {1, 0, 1}};
  double history[PAIRS][3] = {{5}}, force[N][3] = {{5}};
  nbcc_error* error = NULL;
  nbcc_device* device = NULL;
  nbcc_pipeline* pipeline = NULL;
  nbcc_sum* sum = NULL;
  if (nbcc_device_open("cpu", NULL, &device, &error) || contacts_open(device, &pipeline, &error) ||
      nbcc_sum_create(pipeline, &sum, &error) ||
      contacts_bind(sum, N, x, N, x, first, PAIRS, j, before, history, force, NULL, &error) ||
      nbcc_sum_run(sum, NULL, &error)) {
    printf("%s\n", nbcc_error_message(error));
    return 1;
  }
  expect_contacts(__LINE__, history, force);
  /* The pairs remain. */
  memset(history, 0, sizeof history);
  if (contacts_bind(sum, N, x, N, x, NULL, PAIRS, NULL, before, history, force, NULL, &error) ||
      nbcc_sum_run(sum, NULL, &error)) {
    printf("%s\n", nbcc_error_message(error));
    return 1;
  }
  expect_contacts(__LINE__, history, force);
  /* Other j without `first`. */
  EXPECT(contacts_bind(sum, N, x, N, x, NULL, PAIRS, j, before, history, force, NULL, &error), NBCC_ERROR_USAGE);
  expect_error(__LINE__, nbcc_error_message(error),
               "first: it is a null pointer, but j is not; null for both keeps the pairs that are listed");
  nbcc_error_free(error);
  error = NULL;
  /* More rows than pairs. */
  double longer[PAIRS + 1][3], result[PAIRS + 1][3];
  memset(longer, 0, sizeof longer);
  EXPECT(contacts_bind(sum, N, x, N, x, NULL, PAIRS + 1, NULL, (const double(*)[3])longer, result, force, NULL, &error),
         NBCC_OK);
  EXPECT(nbcc_sum_run(sum, NULL, &error), NBCC_ERROR_USAGE);
  expect_error(__LINE__, nbcc_error_message(error), "are 5, but 4 are listed");
  nbcc_error_free(error);
  nbcc_sum_destroy(sum);
  nbcc_pipeline_close(pipeline);
  nbcc_device_close(device);
  return 0;
}

int main(void) {
  test_calls();
  test_errors();
  if (test_handles()) return 1;
  return failures != 0;
}
