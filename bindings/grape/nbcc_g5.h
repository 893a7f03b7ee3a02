/* GRAPE-5's interface on nbcc's devices: libnbcc_g5.
 *
 * A tree or direct code that was written for GRAPE-5, Phantom-GRAPE (its GRAPE-5 part) or Sapporo2's g5 functions
 * links against this library instead. The C names take values; the Fortran names (with a trailing underscore, second
 * half of this file) take addresses.
 *
 * A board is a memory of j-particles, numbered by address from 0, and pipelines that sum over the first n of them, for
 * any number of i-particles:
 *
 *   a = sum m_j x_ij / r^3,   p = +sum m_j / r,   x_ij = x_j - x_i, r^2 = |x_ij|^2 + eps^2, G = 1
 *
 * The potential is positive: programs for GRAPE-5 change its sign. An i-particle that is among the j-particles is not
 * excluded: it adds nothing to its acceleration, and m/eps to its potential, which these programs subtract if eps is
 * not 0. Without softening, two particles at one position add nothing to acceleration and potential.
 *
 *   $NBCC_DEVICE       "cpu" (default), "cuda", "cuda:1"; with n devices, "cuda:0,cuda:1", board k uses number k
 *                      modulo n
 *
 *   $NBCC_PRECISION    "mixed" (default), "double", "single"
 *
 *   $NBCC_G5_PIPES     value of g5_get_number_of_pipelines; 4096 by default
 *
 *   $NBCC_G5_JMEMSIZE  value of g5_get_jmemsize, and maximum number of j-particles of a board; 1048576 by default
 *
 * g5_open reads the first two and the last. Functions return no status, as in GRAPE-5: nbcc_g5_last_error gives the
 * error message, and after an invalid argument all forces are NaN until the same setting is made with valid arguments.
 * No function prints or exits. Use one board from one thread at a time; different boards may be used at once. */
#ifndef NBCC_G5_H
#define NBCC_G5_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NBCC_G5_API __attribute__((visibility("default")))
#else
#define NBCC_G5_API
#endif

/* The message of this thread's last failure, "" if there was none since this thread called g5_open. Not part of GRAPE's
 * interface. */
NBCC_G5_API const char* nbcc_g5_last_error(void);

/* ---- the machine ---------------------------------------------------------------------------------------- */

/* Opens the device of board 0. Has no effect if it is open. */
NBCC_G5_API void g5_open(void);
/* Releases all devices and particles. Without g5_open it has no effect. */
NBCC_G5_API void g5_close(void);
/* The number of i-particles for which the caller may size its arrays. Every function accepts any number. */
NBCC_G5_API int g5_get_number_of_pipelines(void);
NBCC_G5_API int g5_get_number_of_pipelines_per_board(void); /* the same */
NBCC_G5_API int g5_get_number_of_real_pipelines(void);      /* the same */
/* The maximum number of j-particles of a board; more are an error. */
NBCC_G5_API int g5_get_jmemsize(void);
/* 1 and 0: a program that loops over all boards uses board 0, as the functions without MC do. */
NBCC_G5_API int g5_get_number_of_boards(void);
NBCC_G5_API int g5_get_firstcluster(void);
/* Always 1: there is no PCI bus. */
NBCC_G5_API double g5_get_pcibus_freq(void);

/* GRAPE-5 scaled its fixed-point numbers by the range of coordinates and the smallest mass. nbcc uses floating point:
 * the range has no effect, g5_get_range returns it; coordinates may be outside of it, and there are no periodic
 * images. */
NBCC_G5_API void g5_set_range(double xmin, double xmax, double mmin);
NBCC_G5_API void g5_get_range(double* xmin, double* xmax, double* mmin);
/* The length by which a cutoff table is scaled. nbcc has no cutoff tables, so it has no effect. */
NBCC_G5_API void g5_set_eta(double eta);
/* Not supported: after this call all forces are NaN until g5_close. Write such a force as a pipeline instead. */
NBCC_G5_API void g5_set_cutoff_table(double (*ffunc)(double), double fcut, double fcor, double (*pfunc)(double),
                                     double pcut, double pcor);

/* ---- particles ------------------------------------------------------------------------------------------ */

/* Sets nj j-particles from an address on. Particles that were never set are NaN. */
NBCC_G5_API void g5_set_xmj(int adr, int nj, const double xj[][3], const double mj[]);
NBCC_G5_API void g5_set_jp(int adr, int nj, const double mj[], const double xj[][3]);
NBCC_G5_API void g5_set_xj(int adr, int nj, const double xj[][3]);
NBCC_G5_API void g5_set_mj(int adr, int nj, const double mj[]);
/* Sets the number of j-particles in the sums: addresses 0 to n - 1. */
NBCC_G5_API void g5_set_n(int n);
/* Sets the softening length, or its square, of all i-particles on all boards, including boards that are made later; 0
 * before it is set, and after g5_close. May be set before g5_open. */
NBCC_G5_API void g5_set_eps_to_all(double eps);
NBCC_G5_API void g5_set_eps2_to_all(double eps2);
/* Sets the softening length, or its square, of each i-particle, in the order of g5_set_xi; in effect until one value is
 * set for all. */
NBCC_G5_API void g5_set_eps(int ni, const double eps[]);
NBCC_G5_API void g5_set_eps2(int ni, const double eps2[]);

/* ---- forces --------------------------------------------------------------------------------------------- */

NBCC_G5_API void g5_set_xi(int ni, const double xi[][3]);
/* Starts the sums for these i-particles and returns. */
NBCC_G5_API void g5_run(void);
/* Waits for the sums and returns the results. ni may be less than the ni of g5_set_xi. */
NBCC_G5_API void g5_get_force(int ni, double a[][3], double p[]);
/* g5_set_xi, g5_run and g5_get_force, for any ni. */
NBCC_G5_API void g5_calculate_force_on_x(const double x[][3], double a[][3], double p[], int ni);

/* ---- the same for board devid >= 0, which is made by the first call with its number --------------------------- */

NBCC_G5_API void g5_set_xmjMC(int devid, int adr, int nj, const double xj[][3], const double mj[]);
NBCC_G5_API void g5_set_jpMC(int devid, int adr, int nj, const double mj[], const double xj[][3]);
NBCC_G5_API void g5_set_xjMC(int devid, int adr, int nj, const double xj[][3]);
NBCC_G5_API void g5_set_mjMC(int devid, int adr, int nj, const double mj[]);
NBCC_G5_API void g5_set_nMC(int devid, int n);
NBCC_G5_API void g5_set_eps_to_allMC(int devid, double eps);
NBCC_G5_API void g5_set_eps2_to_allMC(int devid, double eps2);
NBCC_G5_API void g5_set_epsMC(int devid, int ni, const double eps[]);
NBCC_G5_API void g5_set_eps2MC(int devid, int ni, const double eps2[]);
NBCC_G5_API void g5_set_xiMC(int devid, int ni, const double xi[][3]);
NBCC_G5_API void g5_runMC(int devid);
NBCC_G5_API void g5_get_forceMC(int devid, int ni, double a[][3], double p[]);
NBCC_G5_API void g5_calculate_force_on_xMC(int devid, const double x[][3], double a[][3], double p[], int ni);

/* ---- for Fortran ------------------------------------------------------------------------------------------ */

NBCC_G5_API void g5_open_(void);
NBCC_G5_API void g5_close_(void);
NBCC_G5_API int g5_get_number_of_pipelines_(void);
NBCC_G5_API int g5_get_number_of_pipelines_per_board_(void);
NBCC_G5_API int g5_get_number_of_real_pipelines_(void);
NBCC_G5_API int g5_get_jmemsize_(void);
NBCC_G5_API int g5_get_number_of_boards_(void);
NBCC_G5_API int g5_get_firstcluster_(void);
NBCC_G5_API double g5_get_pcibus_freq_(void);
NBCC_G5_API void g5_set_range_(const double* xmin, const double* xmax, const double* mmin);
NBCC_G5_API void g5_get_range_(double* xmin, double* xmax, double* mmin);
NBCC_G5_API void g5_set_eta_(const double* eta);
NBCC_G5_API void g5_set_cutoff_table_(double (*ffunc)(double), const double* fcut, const double* fcor,
                                      double (*pfunc)(double), const double* pcut, const double* pcor);
NBCC_G5_API void g5_set_xmj_(const int* adr, const int* nj, const double xj[][3], const double mj[]);
NBCC_G5_API void g5_set_jp_(const int* adr, const int* nj, const double mj[], const double xj[][3]);
NBCC_G5_API void g5_set_xj_(const int* adr, const int* nj, const double xj[][3]);
NBCC_G5_API void g5_set_mj_(const int* adr, const int* nj, const double mj[]);
NBCC_G5_API void g5_set_n_(const int* n);
NBCC_G5_API void g5_set_eps_to_all_(const double* eps);
NBCC_G5_API void g5_set_eps2_to_all_(const double* eps2);
NBCC_G5_API void g5_set_eps_(const int* ni, const double eps[]);
NBCC_G5_API void g5_set_eps2_(const int* ni, const double eps2[]);
NBCC_G5_API void g5_set_xi_(const int* ni, const double xi[][3]);
NBCC_G5_API void g5_run_(void);
NBCC_G5_API void g5_get_force_(const int* ni, double a[][3], double p[]);
NBCC_G5_API void g5_calculate_force_on_x_(const double x[][3], double a[][3], double p[], const int* ni);
NBCC_G5_API void g5_set_xmjmc_(const int* devid, const int* adr, const int* nj, const double xj[][3],
                               const double mj[]);
NBCC_G5_API void g5_set_jpmc_(const int* devid, const int* adr, const int* nj, const double mj[], const double xj[][3]);
NBCC_G5_API void g5_set_xjmc_(const int* devid, const int* adr, const int* nj, const double xj[][3]);
NBCC_G5_API void g5_set_mjmc_(const int* devid, const int* adr, const int* nj, const double mj[]);
NBCC_G5_API void g5_set_nmc_(const int* devid, const int* n);
NBCC_G5_API void g5_set_eps_to_allmc_(const int* devid, const double* eps);
NBCC_G5_API void g5_set_eps2_to_allmc_(const int* devid, const double* eps2);
NBCC_G5_API void g5_set_epsmc_(const int* devid, const int* ni, const double eps[]);
NBCC_G5_API void g5_set_eps2mc_(const int* devid, const int* ni, const double eps2[]);
NBCC_G5_API void g5_set_ximc_(const int* devid, const int* ni, const double xi[][3]);
NBCC_G5_API void g5_runmc_(const int* devid);
NBCC_G5_API void g5_get_forcemc_(const int* devid, const int* ni, double a[][3], double p[]);
NBCC_G5_API void g5_calculate_force_on_xmc_(const int* devid, const double x[][3], double a[][3], double p[],
                                            const int* ni);

#ifdef __cplusplus
}
#endif
#endif
