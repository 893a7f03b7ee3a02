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
 * left out: it adds nothing to its acceleration, and m/eps to its potential, which those programs take off where eps is
 * not 0. Without softening, two particles in one place add nothing to either.
 *
 *   $NBCC_DEVICE       "cpu" (default), "cuda", "cuda:1"; of several, "cuda:0,cuda:1", board k takes number k,
 *                      over again from the first
 *
 *   $NBCC_PRECISION    "mixed" (default), "double", "single"
 *
 *   $NBCC_G5_PIPES     what g5_get_number_of_pipelines answers; 4096 by default
 *
 *   $NBCC_G5_JMEMSIZE  what g5_get_jmemsize answers, and the j-particles of a board; 1048576 by default
 *
 * The first two and the last are read by g5_open. Functions return nothing, as GRAPE-5's do: what went wrong is told by
 * nbcc_g5_last_error, and by forces that are NaN: those after anything was refused, until the same is set rightly.
 * Nothing prints, nothing exits. One board is used from one thread at a time, different boards from as many as there
 * are. */
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

/* What the last failure in this thread was, "" if there was none since g5_open was called in it. Not of GRAPE's
 * interface. */
NBCC_G5_API const char* nbcc_g5_last_error(void);

/* ---- the machine ---------------------------------------------------------------------------------------- */

/* Takes the device of board 0. A GRAPE-5 that is open stays as it is. */
NBCC_G5_API void g5_open(void);
/* Gives all devices back; the particles are gone. Without g5_open it does nothing. */
NBCC_G5_API void g5_close(void);
/* How many i-particles at a time suit the caller's arrays. Every function takes any number. */
NBCC_G5_API int g5_get_number_of_pipelines(void);
NBCC_G5_API int g5_get_number_of_pipelines_per_board(void); /* the same */
NBCC_G5_API int g5_get_number_of_real_pipelines(void);      /* the same */
/* How many j-particles a board holds. More are refused. */
NBCC_G5_API int g5_get_jmemsize(void);
/* Functions without MC are those of board 0, and a program that goes through all boards finds this one: 1 and 0. */
NBCC_G5_API int g5_get_number_of_boards(void);
NBCC_G5_API int g5_get_firstcluster(void);
/* There is no bus to ask: 1. */
NBCC_G5_API double g5_get_pcibus_freq(void);

/* GRAPE-5 scaled its fixed-point numbers by the range of coordinates and the smallest mass. Ours are floating point:
 * the range is what g5_get_range gives back, and changes nothing; coordinates may lie outside of it, and there are no
 * periodic images. */
NBCC_G5_API void g5_set_range(double xmin, double xmax, double mmin);
NBCC_G5_API void g5_get_range(double* xmin, double* xmax, double* mmin);
/* The length by which the cutoff table is stretched. Without a table, as here, it changes nothing. */
NBCC_G5_API void g5_set_eta(double eta);
/* There are no cutoff tables: all forces are NaN from then on, until g5_close. Write the force as a pipeline instead.
 */
NBCC_G5_API void g5_set_cutoff_table(double (*ffunc)(double), double fcut, double fcor, double (*pfunc)(double),
                                     double pcut, double pcor);

/* ---- particles ------------------------------------------------------------------------------------------ */

/* nj j-particles from an address on; what was never written is NaN. */
NBCC_G5_API void g5_set_xmj(int adr, int nj, const double xj[][3], const double mj[]);
NBCC_G5_API void g5_set_jp(int adr, int nj, const double mj[], const double xj[][3]);
NBCC_G5_API void g5_set_xj(int adr, int nj, const double xj[][3]);
NBCC_G5_API void g5_set_mj(int adr, int nj, const double mj[]);
/* How many j-particles are summed over: those from address 0 on. */
NBCC_G5_API void g5_set_n(int n);
/* The softening length, or its square, of all i-particles, on all boards, those to come as well; 0 before it is
 * set, and after g5_close. May be set before g5_open. */
NBCC_G5_API void g5_set_eps_to_all(double eps);
NBCC_G5_API void g5_set_eps2_to_all(double eps2);
/* Of each i-particle, in the order of g5_set_xi; as long as none is set for all. */
NBCC_G5_API void g5_set_eps(int ni, const double eps[]);
NBCC_G5_API void g5_set_eps2(int ni, const double eps2[]);

/* ---- forces --------------------------------------------------------------------------------------------- */

NBCC_G5_API void g5_set_xi(int ni, const double xi[][3]);
/* Starts the sums for these i-particles and returns. */
NBCC_G5_API void g5_run(void);
/* Waits for them. ni may be less than g5_set_xi was given. */
NBCC_G5_API void g5_get_force(int ni, double a[][3], double p[]);
/* The three of them, for any ni. */
NBCC_G5_API void g5_calculate_force_on_x(const double x[][3], double a[][3], double p[], int ni);

/* ---- the same of one board, which is made when it is first named: any number from 0 on ----------------------- */

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
