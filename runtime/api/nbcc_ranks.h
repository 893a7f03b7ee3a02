/* Part of nbcc's C interface, for libraries that distribute a sum over processes, as libnbcc_mpi does: each process
 * sums for its own i, and has all j, or its own j alone. Include nbcc.h first. */
#ifndef NBCC_RANKS_H
#define NBCC_RANKS_H
#include "runtime/api/nbcc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The setting of the sum that needs all j in one run: "lists", "batches", "listed pairs", "exclusions",
 * "every_image()", "output(pair)", "nearest neighbours", "a tolerance". "": the j may come in parts (nbcc_part). With
 * "a tolerance" processes may have their own j alone where nbcc_sum_why_all_j returns "". Valid until the next call for
 * this sum. */
NBCC_API const char* nbcc_sum_needs_all_j(nbcc_sum* sum);

/* Why each process must have all j, as a text without a full stop, also for a sum whose pairs are not chosen to a
 * tolerance; "": processes that sum on CPUs may have their own j alone, if this is "" on all of them. Valid until the
 * next call for this sum. */
NBCC_API const char* nbcc_sum_why_all_j(nbcc_sum* sum);

/* A hash of the fields and statements of the sum's pipeline, which must be equal on all processes of a run: the same on
 * every device, in every precision and with other comments; 0 if it is not known, as in a compiled library. */
NBCC_API uint64_t nbcc_sum_digest(const nbcc_sum* sum);

/* The values of a param for the next run: (*values)[component], `count` of them, valid until the next call for this
 * sum; none if the param is not set, or if each batch or group has its own. NBCC_ERROR_USAGE: there is no such param.
 */
NBCC_API nbcc_status nbcc_sum_get_param(const nbcc_sum* sum, const char* name, const double** values, int* count,
                                        nbcc_error** error);

/* The tolerance of nbcc_sum_set_tolerance; 0: none. All processes of a run must have the same. */
NBCC_API double nbcc_sum_tolerance(const nbcc_sum* sum);

/* Returns the error of a run with these options that has wrong arguments, arrays, lists or params, without a sum. Ends
 * a sum in parts that has begun. */
NBCC_API nbcc_status nbcc_sum_check_run(nbcc_sum* sum, const nbcc_run_options* options, nbcc_error** error);

/* The processes of a run. `exchange` is called in the thread of the run, some ten times in a run that chooses the
 * numbers of a far field. It sends `count` numbers, at most NBCC_PEER_NUMBERS, and receives those of all processes:
 * all[process][count + 1], of which the first number is 1, or 0 for a process that is not in a call of `exchange`,
 * because it has no i, or its run has ended or failed. Result 0: received; any other: NBCC_ERROR_DEVICE ends the run.
 *
 * `announce` and `send` are null if each process has all j. Otherwise each process has its own j alone, also a process
 * without i takes part, and the particles move to the processes by their positions. `announce` sends bytes[process] to
 * each process and receives theirs in received[process]; `send`, which follows it, sends these bytes from
 * blocks[process] to into[process]. Result NBCC_PEER_ENDED, for all that call: another process has ended its run, and
 * NBCC_INTERRUPTED ends this one. */
#define NBCC_PEER_NUMBERS 14
#define NBCC_PEER_ENDED 2
#define NBCC_PEER_TEXT 256
typedef struct nbcc_peers {
  size_t size;    /* sizeof(nbcc_peers) */
  int count, own; /* the number of processes, the index of this one */
  void* data;     /* the first argument of the functions */
  int (*exchange)(void* data, const double* mine, int count, double* all);
  int (*announce)(void* data, const int64_t* bytes, int64_t* received);
  int (*send)(void* data, const void* const* blocks, void* const* into);
  /* [NBCC_PEER_TEXT], may be null. Where each process has all j: why, for nbcc_statistics.reason. Where each has its
   * own j alone: the run stores why it needs all j, on all processes alike, and then it has summed nothing; or "",
   * and it has summed. */
  char* why_all_j;
} nbcc_peers;

/* nbcc_sum_run among processes: a tolerance is kept for the i of all together. The process with the most i chooses
 * order, leaf, precision and separation, or all pairs; all processes measure samples of their own i, and take a smaller
 * separation where the root mean square of all is larger than the tolerance. If the process that chooses has failed,
 * the others return NBCC_INTERRUPTED. nbcc_statistics.error, largest_error, error_of_sum and sampled are then those of
 * all processes. Batches choose for themselves; runs without a tolerance exchange nothing.
 *
 * Where each process has its own j alone, all processes choose together, by the work of all, and nbcc_statistics.reason
 * has the number of j that this process has received as particles. */
NBCC_API nbcc_status nbcc_sum_run_among(nbcc_sum* sum, const nbcc_run_options* options, const nbcc_peers* peers,
                                        nbcc_error** error);

#ifdef __cplusplus
}
#endif
#endif
