/* The file of cases, read field by field, for the programs in C: what write_cases.cpp says is in it. */
#ifndef READ_CASES_H
#define READ_CASES_H
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE* cases;
static const char* precision; /* whose bounds hold */
static char pipeline[64], kind[16];
static int64_t ni, nj;
static int failures, done;

/* The arrays of one case. */
static void* arrays[64];
static int array_count;
static void* new_array(int64_t count, size_t element) {
  return arrays[array_count++] = calloc(count > 0 ? (size_t)count : 1, element);
}
static void free_arrays(void) {
  while (array_count > 0) free(arrays[--array_count]);
}

/* The next field of the file, which must be this one. */
static double* numbers(const char* field, int64_t count) {
  char name[64];
  long long size;
  double* values = new_array(count, sizeof *values);
  if (fscanf(cases, "%63s %lld", name, &size) != 2 || strcmp(name, field) != 0 || size != count) {
    printf("%s has no %lld numbers of %s here\n", pipeline, (long long)count, field);
    exit(2);
  }
  for (int64_t k = 0; k < count; ++k) {
    char word[64];
    if (fscanf(cases, "%63s", word) != 1) exit(2);
    values[k] = strtod(word, NULL);
  }
  return values;
}

/* The next output of the file against what was summed, which was rounded to `epsilon` on its way. */
static void compare(const char* field, const double* got, int64_t count, double epsilon) {
  const double* expected = numbers(field, count);
  const double* single_bounds = numbers("single", count);
  const double* double_bounds = numbers("double", count);
  const double* bounds = strcmp(precision, "double") == 0 ? double_bounds : single_bounds;
  for (int64_t k = 0; k < count; ++k) {
    if (got[k] == expected[k] || (isnan(got[k]) && isnan(expected[k]))) continue;
    if (fabs(got[k] - expected[k]) <= bounds[k] + epsilon * fabs(expected[k])) continue;
    printf("%s, %lld x %lld, %s: %s[%lld] is %.17g, expected %.17g within %g\n", pipeline, (long long)ni, (long long)nj,
           kind, field, (long long)k, got[k], expected[k], bounds[k]);
    ++failures;
    return;
  }
}

/* All cases of the file. */
static void run_all(const char* path, void (*run_case)(void)) {
  cases = fopen(path, "r");
  if (!cases) {
    printf("%s cannot be read\n", path);
    exit(2);
  }
  for (;;) {
    long long i, j;
    if (fscanf(cases, "%63s %lld %lld %15s", pipeline, &i, &j, kind) != 4) exit(2);
    if (strcmp(pipeline, "end") == 0) break;
    ni = i;
    nj = j;
    run_case();
    free_arrays();
    ++done;
  }
  fclose(cases);
}
#endif
