/* Part of nbcc's C interface: listed pairs of which each acts on both of its particles, so that a program lists each
 * pair once, as half neighbour lists do. */
#ifndef NBCC_LISTED_ONCE_H
#define NBCC_LISTED_ONCE_H
#include "runtime/api/nbcc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A choice of nbcc_sum_set_symmetric. A listed pair (i, j) (nbcc_sum_set_listed_pairs) adds to the outputs of i what j
 * adds, and to the outputs of j what i adds. i and j must be one set: partner fields such as xi and xj are bound to the
 * same arrays. A run is NBCC_ERROR_USAGE if no pairs are listed, if some i are chosen, if a particle is listed with
 * itself, on a GPU, if a param is not symmetric that nbcc_pipeline_needs_symmetric names, and if
 * nbcc_pipeline_listed_once is. The results do not depend on the number of threads. */
#define NBCC_SYMMETRIC_LISTED ((nbcc_symmetric)3)

/* The operations of a pair for both of its particles, divided by the operations of computing the pair twice: 0.5 if
 * both terms are equal or opposite, about 1 if they have nothing in common. NBCC_ERROR_USAGE, with the reason, if the
 * pipeline cannot be summed in this way: its outputs must be sums, counts, minima or maxima, and it must have no inputs
 * or results of pairs. Compiled libraries have no such kernels. */
NBCC_API nbcc_status nbcc_pipeline_listed_once(const nbcc_pipeline* pipeline, double* cost, nbcc_error** error);

/* 1 if the terms of some output are opposite or equal for both particles of a pair only where the values of this param
 * are symmetric, T[a][b] = T[b][a], as epsilon[ti][tj] of two particle types; else 0. */
NBCC_API int nbcc_pipeline_needs_symmetric(const nbcc_pipeline* pipeline, const char* param);

#ifdef __cplusplus
}
#endif
#endif
