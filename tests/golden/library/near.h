/* near.h: made by nbcc from gravity.pipe, nearest_neighbour.pipe (single precision, fast math); do not edit.
 *
 * Each pipeline P is a function P(). Its arguments are the pipeline's fields in order of declaration; the number ni of
 * i-particles precedes the first field of i (inputs and outputs), and the number nj of j-particles precedes the first
 * field of j. An array has one row for each particle. A null pointer for an output means that the output is not
 * computed. P_f() is the same for arrays of float. P() sums for every i-particle over all j-particles, or over the
 * listed pairs (see below), on all cores of the CPU or on the GPU that the environment variable NBCC_DEVICE names
 * (cuda, cuda:1), and overwrites the outputs. Sums are computed in the precision that the library was compiled with,
 * whatever the type of the arrays.
 *
 * The return value is 0 (NBCC_OK) or an error, and then no output was written: NBCC_ERROR_USAGE for a negative count,
 * a null pointer, a value that a param cannot have, an index outside of a table, or pairs that `first`, `pairs` and `j`
 * do not list consistently; NBCC_ERROR_DEVICE if there is not enough memory, the named device does not exist, or the
 * library has no kernel for the processor. After the outputs were written it is NBCC_ERROR_USAGE if a result is beyond
 * an int32_t. nbcc_last_error() returns a message; nbcc_last_warning() returns warnings of a call that succeeded, such as
 * results that are NaN. Threads may call the functions concurrently. The first call starts the threads that all later
 * calls use, or opens the GPU.
 *
 * A pipeline with inputs or results of pairs (input_pair, output(pair)) sums over the pairs that the caller lists; the
 * list precedes the first field of pairs. The j-particles of i are j[first[i]], ..., j[first[i + 1] - 1]; `pairs` is
 * first[ni]. An array of pairs has one row for each entry of j. P() takes a null pointer for `first` only if ni is 0.
 * P_bind() with null pointers for both `first` and `j` keeps the pairs of an earlier P_bind() or
 * nbcc_sum_set_listed_pairs(); a null pointer for `first` alone is NBCC_ERROR_USAGE.
 *
 * For GPUs, streams, particles that stay packed, outputs that are accumulated, or a number of threads: P_open() loads
 * the pipeline on a device of nbcc_device_open(), P_bind() and P_bind_f() bind all arrays of a sum of
 * nbcc_sum_create() at once, and nbcc_sum_run() runs it. See nbcc.h. */
#ifndef NBCC_LIBRARY_NEAR_H
#define NBCC_LIBRARY_NEAR_H
#include <nbcc/nbcc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* gravity.pipe: softened Newtonian gravity, G = 1
 *
 *   acc_i = sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + eps2)^(3/2),   pot_i = -sum_j m_j / (|x_j - x_i|^2 + eps2)^(1/2)
 *
 * Units: any in which G = 1 (Henon units: M = 1, E = -1/4). pot is per unit of the receiving mass.
 * The pair of a particle with itself adds nothing to acc and -m_i/eps to pot; potential.pipe excludes it.
 * Flops: 38 an interaction, the convention of Hamada & Iitaka (2007), counted with square root and division.
 * Literature: L. Greengard & V. Rokhlin, J. Comput. Phys. 73 (1987) 325; S. J. Aarseth, Gravitational N-Body
 * Simulations (2003); T. Hamada & T. Iitaka, The Chamomile Scheme, arXiv:astro-ph/0703100.
 *
 *   ni          number of i-particles
 *   xi[ni][3]   position of the receiving particle
 *   nj          number of j-particles
 *   xj[nj][3]   position of the acting particle
 *   mj[nj]      its mass
 *   eps2        softening length squared; uniform, may be changed at run time; in the pipeline 0.0001
 *   acc[ni][3]  acceleration
 *   pot[ni]     potential, with the particle's own; potential.pipe is without it, also for eps2 = 0
 */
NBCC_API int gravity(int64_t ni, const double (*xi)[3], int64_t nj, const double (*xj)[3], const double* mj,
    double eps2, double (*acc)[3], double* pot);
NBCC_API int gravity_f(int64_t ni, const float (*xi)[3], int64_t nj, const float (*xj)[3], const float* mj, double eps2,
    float (*acc)[3], float* pot);
NBCC_API nbcc_status gravity_open(nbcc_device* device, nbcc_pipeline** pipeline, nbcc_error** error);
NBCC_API nbcc_status gravity_bind(nbcc_sum* sum, int64_t ni, const double (*xi)[3], int64_t nj, const double (*xj)[3],
    const double* mj, double eps2, double (*acc)[3], double* pot, nbcc_error** error);
NBCC_API nbcc_status gravity_bind_f(nbcc_sum* sum, int64_t ni, const float (*xi)[3], int64_t nj, const float (*xj)[3],
    const float* mj, double eps2, float (*acc)[3], float* pot, nbcc_error** error);

/* nearest_neighbour.pipe: for every i the nearest j and its distance
 *
 *   near_i = argmin_j |x_j - x_i|,   dist_i = |x_near - x_i|
 *
 * Of equal distances the lowest j wins; without any j the answers are -1 and infinity.
 * Units: dist in those of xi. self = 0 is for queries into another set, where equal indices mean nothing.
 * Literature: F. P. Preparata & M. I. Shamos, Computational Geometry (1985), chapter 5.
 *
 *   ni         number of i-particles
 *   xi[ni][3]  position of the asking particle
 *   nj         number of j-particles
 *   xj[nj][3]  position of a candidate
 *   self       1: i and j are one set, and no particle is its own neighbour; 0: two sets; in the pipeline 1
 *   near[ni]   index of the nearest
 *   dist[ni]   its distance
 */
NBCC_API int nearest_neighbour(int64_t ni, const double (*xi)[3], int64_t nj, const double (*xj)[3], int32_t self,
    int64_t* near, double* dist);
NBCC_API int nearest_neighbour_f(int64_t ni, const float (*xi)[3], int64_t nj, const float (*xj)[3], int32_t self,
    int64_t* near, float* dist);
NBCC_API nbcc_status nearest_neighbour_open(nbcc_device* device, nbcc_pipeline** pipeline, nbcc_error** error);
NBCC_API nbcc_status nearest_neighbour_bind(nbcc_sum* sum, int64_t ni, const double (*xi)[3], int64_t nj,
    const double (*xj)[3], int32_t self, int64_t* near, double* dist, nbcc_error** error);
NBCC_API nbcc_status nearest_neighbour_bind_f(nbcc_sum* sum, int64_t ni, const float (*xi)[3], int64_t nj,
    const float (*xj)[3], int32_t self, int64_t* near, float* dist, nbcc_error** error);

#ifdef __cplusplus
}
#endif
#endif
