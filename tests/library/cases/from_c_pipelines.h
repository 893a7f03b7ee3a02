/* A case of each pipeline through its function for arrays of REAL. Included once for each flavour, by from_c.c. */
static REAL* OF_FLAVOUR(input)(const char* field, int64_t count) {
  const double* values = numbers(field, count);
  REAL* array = new_array(count, sizeof *array);
  for (int64_t k = 0; k < count; ++k) array[k] = (REAL)values[k];
  return array;
}

static void OF_FLAVOUR(output)(const char* field, const void* array, int64_t count) {
  double* values = new_array(count, sizeof *values);
  for (int64_t k = 0; k < count; ++k) values[k] = ((const REAL*)array)[k];
  compare(field, values, count, sizeof(REAL) == sizeof(float) ? FLT_EPSILON : 0);
}

#define SCALARS(field, count) const REAL* field = OF_FLAVOUR(input)(#field, count)
#define VECTORS(field, count) const REAL(*field)[3] = (const REAL(*)[3])OF_FLAVOUR(input)(#field, 3 * (count))
#define PARAM(field) const double field = param(#field)
#define SCALAR_SUMS(field) REAL* field = new_array(ni, sizeof *field)
#define VECTOR_SUMS(field) REAL(*field)[3] = new_array(ni, sizeof *field)
#define OUTPUT(field, width) OF_FLAVOUR(output)(#field, field, (width) * ni)

static void OF_FLAVOUR(run_gravity)(void) {
  VECTORS(xi, ni);
  VECTORS(xj, nj);
  SCALARS(mj, nj);
  PARAM(eps2);
  VECTOR_SUMS(acc);
  SCALAR_SUMS(pot);
  expect(CALL(gravity)(ni, xi, nj, xj, mj, eps2, acc, pot) == NBCC_OK, "gravity");
  OUTPUT(acc, 3);
  OUTPUT(pot, 1);
}

static void OF_FLAVOUR(run_lennard_jones)(void) {
  VECTORS(xi, ni);
  VECTORS(xj, nj);
  PARAM(sigma);
  PARAM(eps);
  PARAM(rc);
  PARAM(shift);
  const double* box = numbers("box", 3);
  VECTOR_SUMS(force);
  SCALAR_SUMS(energy);
  SCALAR_SUMS(virial);
  expect(CALL(lennard_jones)(ni, xi, nj, xj, sigma, eps, rc, shift, box, force, energy, virial) == NBCC_OK,
         "lennard_jones");
  OUTPUT(force, 3);
  OUTPUT(energy, 1);
  OUTPUT(virial, 1);
}

static void OF_FLAVOUR(run_nearest_neighbour)(void) {
  VECTORS(xi, ni);
  VECTORS(xj, nj);
  PARAM(self);
  int64_t* near = new_array(ni, sizeof *near);
  SCALAR_SUMS(dist);
  expect(CALL(nearest_neighbour)(ni, xi, nj, xj, (int32_t)self, near, dist) == NBCC_OK, "nearest_neighbour");
  double* indices = new_array(ni, sizeof *indices);
  for (int64_t i = 0; i < ni; ++i) indices[i] = (double)near[i];
  compare("near", indices, ni, 0);
  OUTPUT(dist, 1);
}

static void OF_FLAVOUR(run_sph_force)(void) {
  VECTORS(xi, ni);
  VECTORS(vi, ni);
  SCALARS(hi, ni);
  SCALARS(rhoi, ni);
  SCALARS(presi, ni);
  SCALARS(ci, ni);
  SCALARS(omegai, ni);
  VECTORS(xj, nj);
  VECTORS(vj, nj);
  SCALARS(mj, nj);
  SCALARS(hj, nj);
  SCALARS(rhoj, nj);
  SCALARS(presj, nj);
  SCALARS(cj, nj);
  SCALARS(omegaj, nj);
  PARAM(alpha);
  PARAM(beta);
  VECTOR_SUMS(acc);
  SCALAR_SUMS(dudt);
  SCALAR_SUMS(vsig);
  expect(CALL(sph_force)(ni, xi, vi, hi, rhoi, presi, ci, omegai, nj, xj, vj, mj, hj, rhoj, presj, cj, omegaj, alpha,
                         beta, acc, dudt, vsig) == NBCC_OK,
         "sph_force");
  OUTPUT(acc, 3);
  OUTPUT(dudt, 1);
  OUTPUT(vsig, 1);
}

static void OF_FLAVOUR(run_ks_statistic)(void) {
  SCALARS(xi, ni);
  SCALARS(xj, nj);
  SCALARS(wj, nj);
  SCALAR_SUMS(d);
  expect(CALL(ks_statistic)(ni, xi, nj, xj, wj, d) == NBCC_OK, "ks_statistic");
  OUTPUT(d, 1);
}

static void OF_FLAVOUR(run_case)(void) {
  static const struct {
    const char* name;
    void (*run)(void);
  } known[] = {{"gravity", OF_FLAVOUR(run_gravity)},
               {"lennard_jones", OF_FLAVOUR(run_lennard_jones)},
               {"nearest_neighbour", OF_FLAVOUR(run_nearest_neighbour)},
               {"sph_force", OF_FLAVOUR(run_sph_force)},
               {"ks_statistic", OF_FLAVOUR(run_ks_statistic)}};
  for (size_t k = 0; k < sizeof known / sizeof *known; ++k) {
    if (strcmp(pipeline, known[k].name) != 0) continue;
    known[k].run();
    return;
  }
  printf("%s is not known here\n", pipeline);
  exit(2);
}

#undef SCALARS
#undef VECTORS
#undef PARAM
#undef SCALAR_SUMS
#undef VECTOR_SUMS
#undef OUTPUT
