/* Part of nbcc's C interface, for libraries that distribute a sum over processes, as libnbcc_mpi does: each process has
 * all j, and sums for its own i. Include nbcc.h first. */
#ifndef NBCC_RANKS_H
#define NBCC_RANKS_H
#include "runtime/api/nbcc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The setting of the sum that needs all j in one run: "lists", "batches", "listed pairs", "exclusions",
 * "every_image()", "output(pair)", "nearest neighbours", "a tolerance". "": the j may come in parts (nbcc_part). Valid
 * until the next call for this sum. */
NBCC_API const char* nbcc_sum_needs_all_j(nbcc_sum* sum);

/* The tolerance of nbcc_sum_set_tolerance; 0: none. All processes of a run must have the same. */
NBCC_API double nbcc_sum_tolerance(const nbcc_sum* sum);

/* Returns the error of a run with these options that has wrong arguments, arrays, lists or params, without a sum. Ends
 * a sum in parts that has begun. */
NBCC_API nbcc_status nbcc_sum_check_run(nbcc_sum* sum, const nbcc_run_options* options, nbcc_error** error);

/* The processes of a run. `exchange` is called in the thread of the run, some ten times in a run that chooses the
 * numbers of a far field. It sends `count` numbers, at most NBCC_PEER_NUMBERS, and receives those of all processes:
 * all[process][count + 1], of which the first number is 1, or 0 for a process that is not in a call of `exchange`,
 * because it has no i, or its run has ended or failed. Result 0: received; any other: NBCC_ERROR_DEVICE ends the run.
 */
#define NBCC_PEER_NUMBERS 14
typedef struct nbcc_peers {
  size_t size;    /* sizeof(nbcc_peers) */
  int count, own; /* the number of processes, the index of this one */
  void* data;     /* the first argument of `exchange` */
  int (*exchange)(void* data, const double* mine, int count, double* all);
} nbcc_peers;

/* nbcc_sum_run among processes: a tolerance is kept for the i of all together. The process with the most i chooses
 * order, leaf, precision and separation, or all pairs; all processes measure samples of their own i, and take a smaller
 * separation where the root mean square of all is larger than the tolerance. If the process that chooses has failed,
 * the others return NBCC_INTERRUPTED. nbcc_statistics.error, largest_error, error_of_sum and sampled are then those of
 * all processes. Batches choose for themselves; runs without a tolerance exchange nothing. */
NBCC_API nbcc_status nbcc_sum_run_among(nbcc_sum* sum, const nbcc_run_options* options, const nbcc_peers* peers,
                                        nbcc_error** error);

#ifdef __cplusplus
}
#endif
#endif
