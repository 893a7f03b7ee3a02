/* nbcc's sums over particles that are spread over the ranks of an MPI communicator; in libnbcc_mpi.
 *
 * Each rank owns some of the i-particles and some of the j-particles, any number of each: those that it binds to its
 * own nbcc_sum. The sum of every i runs over the j of all ranks. Blocks of j travel around a ring of the ranks; the
 * next block is received while the present one is summed. i_index and j_index are global: they count the particles of
 * rank 0 first, then those of rank 1, and so on.
 *
 * Unless stated otherwise, functions that take a ring are collective: every rank of the communicator calls them, in the
 * same order, and every rank returns the same status. If ranks fail, all ranks return the status and message of the
 * lowest of them, prefixed by "rank N: "; no rank writes an output, and no rank hangs. A failure of MPI itself is
 * reported only by the rank that sees it, as NBCC_ERROR_DEVICE, because the ranks cannot communicate then. */
#ifndef NBCC_MPI_H
#define NBCC_MPI_H
#include <mpi.h>

#include "runtime/api/nbcc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nbcc_mpi_ring nbcc_mpi_ring;

/* Creates a ring: a duplicate of the communicator, and buffers for blocks of j, for sums on `device`. Each rank opens
 * its own device and keeps it open while the ring exists. MPI must be initialised. Only one thread at a time may use
 * the ring. */
NBCC_API nbcc_status nbcc_mpi_ring_create(MPI_Comm comm, nbcc_device* device, nbcc_mpi_ring** ring, nbcc_error** error);
/* Collective; call it before MPI_Finalize (after MPI_Finalize it frees memory only). `ring` may be null. */
NBCC_API void nbcc_mpi_ring_destroy(nbcc_mpi_ring* ring);

/* Replaces nbcc_sum_run: sums over the j of all ranks, for the chosen i of this rank. `sum` must belong to the ring's
 * device, and must have the same pipeline and the same params on all ranks (NBCC_ERROR_USAGE on all otherwise; texts of
 * compiled libraries and params with values for each batch or group are not compared); element types and strides of
 * the bound arrays may differ between ranks. options may be null; i_begin, i_count, i_list, accumulate and stream may
 * differ between ranks, `part` must be NBCC_WHOLE. Every reduction and finish() work as in one process. The i and j
 * offsets of the sum are set to those of this rank.
 *
 * Lists, batches, listed pairs, exclusions, every_image(), output(pair), nearest neighbours and some sums to a
 * tolerance need all j at once. If they are set on any rank, every rank receives the j of all ranks, at
 * most 2^31 - 1, into memory of its own, and makes one run over them. Lists, listed pairs and exclusions have the i of
 * this rank and the global indices of j; batches have i_batch of this rank's i and j_batch of the j of all ranks.
 * Arguments are checked on all ranks before any rank sums; if a rank fails later, others may have written their
 * outputs. NBCC_SYMMETRIC_LISTED is NBCC_ERROR_USAGE on several ranks, because a listed pair would add to the i of
 * another rank.
 *
 * A tolerance and its nbcc_far_choice are the same on all ranks, and the tolerance is kept for the i of all together:
 * nbcc_sum_run_among of nbcc_ranks.h. On CPUs the particles of an open sum move to ranks by their positions for the
 * run, and each rank receives the grids and particles that its domain needs of the others (locally essential trees),
 * instead of all j. Periodic sums, sums on GPUs, sums of which all pairs cost less, sums with non-finite positions or
 * weights of j and the other cases of docs/how_to/many_ranks.md need all j on every rank; nbcc_statistics.reason says
 * which was the case, and why. The array elements of inputs of i and j may then be rounded to double.
 *
 * A total (output(total)) is one value for the chosen i of all ranks, and every rank stores the same number: the totals
 * of the ranks are combined in the order of the ranks. With `accumulate` a rank combines it with its stored value once.
 * A rank that ignores a total still contributes to it. A run whose totals any rank has bound returns when its work is
 * done, on a GPU, too.
 *
 * The results are those of one process except for the order in which terms are added: first the rank's own j, then the
 * j of the previous rank, and so on around the ring. With the same number of ranks and the same particles on each, the
 * results of every run have the same bits. Outputs are written after all ranks have summed all blocks; if any rank has
 * failed before, no rank writes. Runs that need all j at once add the terms in the order of one process; sums to a
 * tolerance of ranks with their own j add them in an order of their own, the same in every run. Arrays of
 * inputs and outputs may be the same.
 *
 * Between GPUs blocks are staged through pinned host memory, or sent from GPU to GPU if the MPI library reports that it
 * is CUDA-aware. */
NBCC_API nbcc_status nbcc_mpi_run(nbcc_mpi_ring* ring, nbcc_sum* sum, const nbcc_run_options* options,
                                  nbcc_error** error);

/* Returns the global indices of each rank's particles in the last run: rank r had i_index i_first[r] to
 * i_first[r + 1] - 1, and j_index likewise. Both arrays have (number of ranks + 1) elements, belong to the ring and are
 * valid until its next run; before the first run all elements are 0. Not collective. */
NBCC_API nbcc_status nbcc_mpi_ring_owners(const nbcc_mpi_ring* ring, const int64_t** i_first, const int64_t** j_first,
                                          nbcc_error** error);

/* The bytes of particles, grids and results that this rank has received from other ranks in the last run; 0 for a null
 * pointer. Not collective. */
NBCC_API int64_t nbcc_mpi_ring_bytes(const nbcc_mpi_ring* ring);

#ifdef __cplusplus
}
#endif
#endif
