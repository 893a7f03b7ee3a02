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
 * xp_j and vp_j are the j-particle predicted to ti, by the device. A j-particle whose index is that of the i-particle
 * is left out, from neighbours as well; one with another index in the same place with eps2 = 0 adds nothing.
 *
 *   $NBCC_DEVICE     "cpu" (default), "cuda", "cuda:1"; of several, "cuda:0,cuda:1", cluster k takes number k,
 *                    over again from the first
 *
 *   $NBCC_PRECISION  "mixed" (default), "double", "single"
 *
 *   $NBCC_G6_PIPES   what g6_npipes answers; 48 by default, as GRAPE-6
 *
 * The first two are read by g6_open. Functions that return an int return 0 when all went well and a negative number
 * when not; nbcc_g6_last_error says why. Nothing prints, nothing exits. One cluster is used from one thread at a time,
 * different clusters from as many as there are. */
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

/* What the last failure in this thread was, "" if there was none. Not of GRAPE's interface. */
NBCC_G6_API const char* nbcc_g6_last_error(void);

/* ---- clusters ------------------------------------------------------------------------------------------- */

/* Takes a device for a cluster, any number from 0 on. One that is open stays as it is. */
NBCC_G6_API int g6_open(int clusterid);
/* Gives it back; its j-particles are gone. */
NBCC_G6_API int g6_close(int clusterid);
/* Waits for what is under way and forgets its results. The j-particles stay. */
NBCC_G6_API int g6_reset(int clusterid);
NBCC_G6_API int g6_reset_fofpga(int clusterid); /* the same */
/* How many i-particles at a time suit the caller's arrays; firsthalf takes any number. */
NBCC_G6_API int g6_npipes(void);

/* Coordinates and times are floating point: there is nothing to scale. These are accepted and change nothing. */
NBCC_G6_API int g6_set_tunit(int tunit);
NBCC_G6_API int g6_set_xunit(int xunit);
NBCC_G6_API int g6_set_neighbour_list_sort_mode(int mode); /* lists are sorted, always */
/* Particles are stored at once: there is no buffer. */
NBCC_G6_API int g6_initialize_jp_buffer(int clusterid, int size);
NBCC_G6_API int g6_flush_jp_buffer(int clusterid);
NBCC_G6_API int g6_setup_njdata(int clusterid, int nj);

/* ---- particles ------------------------------------------------------------------------------------------ */

/* A j-particle at an address. index is what i-particles are compared with and what neighbours are named by. At its own
 * time tj it has position x, velocity v, and half, a sixth and an eighteenth of the acceleration and its first and
 * second derivative: a2 = acc/2, j6 = jerk/6, k18 = snap/18. dtj, its step, is not needed. */
NBCC_G6_API int g6_set_j_particle(int clusterid, int address, int index, double tj, double dtj, double mass,
                                  const double k18[3], const double j6[3], const double a2[3], const double v[3],
                                  const double x[3]);
/* The time that j-particles are predicted to, from the next firsthalf on:
 *   xp = x + dt v + dt^2 a2 + dt^3 j6 + 3/4 dt^4 k18,   vp = v + 2 dt a2 + 3 dt^2 j6 + 3 dt^3 k18,   dt = ti - tj */
NBCC_G6_API int g6_set_ti(int clusterid, double ti);

/* ---- forces --------------------------------------------------------------------------------------------- */

/* Starts the sums over the first nj addresses, which must all have been set, and returns; what it was given is copied.
 * acc, jerk and pot of the step before scaled GRAPE's registers: they are not read, and may be null. h2 holds the
 * square of each i-particle's neighbour radius, eps2 the square of the softening length. */
NBCC_G6_API void g6calc_firsthalf(int clusterid, int nj, int ni, const int index[], const double xi[][3],
                                  const double vi[][3], const double aold[][3], const double jold[][3],
                                  const double phiold[], double eps2, const double h2[]);
/* Waits for them. Where something failed, in firsthalf as well, the return value is not 0, the results are NaN and
 * nearest neighbours are -1. Only ni, acc, jerk and pot are used. */
NBCC_G6_API int g6calc_lasthalf(int clusterid, int nj, int ni, const int index[], const double xi[][3],
                                const double vi[][3], double eps2, const double h2[], double acc[][3], double jerk[][3],
                                double pot[]);
/* With the index of each i-particle's nearest neighbour, whatever h2 is; -1 where there is none. */
NBCC_G6_API int g6calc_lasthalf2(int clusterid, int nj, int ni, const int index[], const double xi[][3],
                                 const double vi[][3], double eps2, const double h2[], double acc[][3],
                                 double jerk[][3], double pot[], int nnbindex[]);

/* ---- neighbours ----------------------------------------------------------------------------------------- */

/* Makes the lists of the last firsthalf: for each i-particle all j-particles with |x_ij|^2 <= h2, itself left out. 0,
 * or negative. There is no memory that could overflow, which GRAPE tells by 1. */
NBCC_G6_API int g6_read_neighbour_list(int clusterid);
/* The list of i-particle number ipipe, from 0, of the last firsthalf: indices in ascending order. *nblen is how many
 * neighbours there are. Where these are more than maxlength the return value is 1, and the list has the first maxlength
 * of them. */
NBCC_G6_API int g6_get_neighbour_list(int clusterid, int ipipe, int maxlength, int* nblen, int nbl[]);

/* ---- for Fortran, and for C in the manner of Sapporo2 ------------------------------------------------------ */

NBCC_G6_API int g6_open_(const int* clusterid);
NBCC_G6_API int g6_close_(const int* clusterid);
NBCC_G6_API int g6_reset_(const int* clusterid);
NBCC_G6_API int g6_reset_fofpga_(const int* clusterid);
NBCC_G6_API int g6_npipes_(void);
NBCC_G6_API int g6_set_tunit_(const void* tunit); /* an integer of GRAPE's, a double of Sapporo2's: not read */
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
