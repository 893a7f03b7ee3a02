/* GRAPE-6's interface on nbcc's devices: libnbcc_g6.
 *
 * A Hermite code that was written for GRAPE-6, GRAPE-6A or Sapporo2 links against this library instead. The function
 * library's C names take values, its Fortran names (with a trailing underscore, second half of this file) take
 * addresses; Sapporo2 has the latter only, for C as well.
 *
 * A cluster is a memory of j-particles, numbered by address from 0, and pipelines that sum over the first nj of them,
 * at one time ti, for any number of i-particles:
 *
 *   acc = sum m_j x_ij / r^3,   jerk = sum m_j (v_ij / r^3 - 3 (x_ij . v_ij) x_ij / r^5),   pot = -sum m_j / r
 *   x_ij = xp_j - x_i, v_ij = vp_j - v_i, r^2 = |x_ij|^2 + eps2, G = 1
 *
 * xp_j and vp_j are the j-particle predicted to ti, by the device. A j-particle with the index of the i-particle is
 * excluded, also from neighbours; with eps2 = 0 a j-particle with another index at the same position adds nothing.
 *
 *   $NBCC_DEVICE     "cpu" (default), "cuda", "cuda:1"; with n devices, "cuda:0,cuda:1", cluster k uses number k
 *                    modulo n
 *
 *   $NBCC_PRECISION  "mixed" (default), "double", "single"
 *
 *   $NBCC_G6_PIPES   value of g6_npipes; 48 by default, as GRAPE-6
 *
 * g6_open reads the first two. Functions that return an int return 0 on success and a negative number on failure;
 * nbcc_g6_last_error gives the message. No function prints or exits. Use one cluster from one thread at a time;
 * different clusters may be used at once. */
#ifndef NBCC_G6_H
#define NBCC_G6_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NBCC_G6_API __attribute__((visibility("default")))
#else
#define NBCC_G6_API
#endif

/* The message of this thread's last failure, "" if there was none. Not part of GRAPE's interface. */
NBCC_G6_API const char* nbcc_g6_last_error(void);

/* ---- clusters ------------------------------------------------------------------------------------------- */

/* Opens the device of cluster clusterid >= 0. Has no effect if the cluster is open. */
NBCC_G6_API int g6_open(int clusterid);
/* Releases the device and its j-particles. */
NBCC_G6_API int g6_close(int clusterid);
/* Waits for running sums and discards their results. Keeps the j-particles. */
NBCC_G6_API int g6_reset(int clusterid);
NBCC_G6_API int g6_reset_fofpga(int clusterid); /* the same */
/* The number of i-particles for which the caller may size its arrays; g6calc_firsthalf accepts any number. */
NBCC_G6_API int g6_npipes(void);

/* No effect: coordinates and times are floating point and need no scaling. */
NBCC_G6_API int g6_set_tunit(int tunit);
NBCC_G6_API int g6_set_xunit(int xunit);
NBCC_G6_API int g6_set_neighbour_list_sort_mode(int mode); /* no effect: lists are always sorted */
/* No effect: particles are stored without a buffer. */
NBCC_G6_API int g6_initialize_jp_buffer(int clusterid, int size);
NBCC_G6_API int g6_flush_jp_buffer(int clusterid);
NBCC_G6_API int g6_setup_njdata(int clusterid, int nj);

/* ---- particles ------------------------------------------------------------------------------------------ */

/* Stores a j-particle at an address. index identifies the particle: it is compared with the indices of i-particles, and
 * returned for neighbours. x and v are position and velocity at the particle's time tj; a2 = acc/2, j6 = jerk/6,
 * k18 = snap/18. dtj, the time step, is not used. */
NBCC_G6_API int g6_set_j_particle(int clusterid, int address, int index, double tj, double dtj, double mass,
                                  const double k18[3], const double j6[3], const double a2[3], const double v[3],
                                  const double x[3]);
/* Sets the time to which j-particles are predicted, from the next g6calc_firsthalf on:
 *   xp = x + dt v + dt^2 a2 + dt^3 j6 + 3/4 dt^4 k18,   vp = v + 2 dt a2 + 3 dt^2 j6 + 3 dt^3 k18,   dt = ti - tj */
NBCC_G6_API int g6_set_ti(int clusterid, double ti);

/* ---- forces --------------------------------------------------------------------------------------------- */

/* Starts the sums over the first nj addresses, which must all be set, and returns; the arguments are copied. aold, jold
 * and phiold, which scaled GRAPE's registers, are not read and may be null. h2: square of the neighbour radius of each
 * i-particle; eps2: square of the softening length. */
NBCC_G6_API void g6calc_firsthalf(int clusterid, int nj, int ni, const int index[], const double xi[][3],
                                  const double vi[][3], const double aold[][3], const double jold[][3],
                                  const double phiold[], double eps2, const double h2[]);
/* Waits for the sums and returns the results. After a failure, also one in g6calc_firsthalf, the return value is not 0,
 * the results are NaN and nearest neighbours are -1. Only clusterid, ni, acc, jerk and pot are used. */
NBCC_G6_API int g6calc_lasthalf(int clusterid, int nj, int ni, const int index[], const double xi[][3],
                                const double vi[][3], double eps2, const double h2[], double acc[][3], double jerk[][3],
                                double pot[]);
/* The same with the index of each i-particle's nearest neighbour, also beyond h2; -1 if there is none. */
NBCC_G6_API int g6calc_lasthalf2(int clusterid, int nj, int ni, const int index[], const double xi[][3],
                                 const double vi[][3], double eps2, const double h2[], double acc[][3],
                                 double jerk[][3], double pot[], int nnbindex[]);

/* ---- neighbours ----------------------------------------------------------------------------------------- */

/* Makes the neighbour lists of the last g6calc_firsthalf: for each i-particle all j-particles with |x_ij|^2 <= h2
 * except itself. Returns 0, or a negative number on failure. Never returns 1, GRAPE's code for an overflow. */
NBCC_G6_API int g6_read_neighbour_list(int clusterid);
/* Returns the list of i-particle ipipe (from 0) of the last g6calc_firsthalf: indices in ascending order. *nblen is the
 * number of neighbours. If it exceeds maxlength the return value is 1, and nbl has the first maxlength neighbours. */
NBCC_G6_API int g6_get_neighbour_list(int clusterid, int ipipe, int maxlength, int* nblen, int nbl[]);

/* ---- for Fortran, and for C programs that use Sapporo2's names --------------------------------------------- */

NBCC_G6_API int g6_open_(const int* clusterid);
NBCC_G6_API int g6_close_(const int* clusterid);
NBCC_G6_API int g6_reset_(const int* clusterid);
NBCC_G6_API int g6_reset_fofpga_(const int* clusterid);
NBCC_G6_API int g6_npipes_(void);
NBCC_G6_API int g6_set_tunit_(const void* tunit); /* an integer in GRAPE, a double in Sapporo2; not read */
NBCC_G6_API int g6_set_xunit_(const void* xunit);
NBCC_G6_API int g6_set_neighbour_list_sort_mode_(const int* mode);
NBCC_G6_API int g6_initialize_jp_buffer_(const int* clusterid, const int* size);
NBCC_G6_API int g6_flush_jp_buffer_(const int* clusterid);
NBCC_G6_API int g6_setup_njdata_(const int* clusterid, const int* nj);
NBCC_G6_API int g6_set_j_particle_(const int* clusterid, const int* address, const int* index, const double* tj,
                                   const double* dtj, const double* mass, const double k18[3], const double j6[3],
                                   const double a2[3], const double v[3], const double x[3]);
NBCC_G6_API int g6_set_ti_(const int* clusterid, const double* ti);
NBCC_G6_API void g6calc_firsthalf_(const int* clusterid, const int* nj, const int* ni, const int index[],
                                   const double xi[][3], const double vi[][3], const double aold[][3],
                                   const double jold[][3], const double phiold[], const double* eps2,
                                   const double h2[]);
NBCC_G6_API int g6calc_lasthalf_(const int* clusterid, const int* nj, const int* ni, const int index[],
                                 const double xi[][3], const double vi[][3], const double* eps2, const double h2[],
                                 double acc[][3], double jerk[][3], double pot[]);
NBCC_G6_API int g6calc_lasthalf2_(const int* clusterid, const int* nj, const int* ni, const int index[],
                                  const double xi[][3], const double vi[][3], const double* eps2, const double h2[],
                                  double acc[][3], double jerk[][3], double pot[], int nnbindex[]);
NBCC_G6_API int g6_read_neighbour_list_(const int* clusterid);
NBCC_G6_API int g6_get_neighbour_list_(const int* clusterid, const int* ipipe, const int* maxlength, int* nblen,
                                       int nbl[]);

#ifdef __cplusplus
}
#endif
#endif
