/* nbcc's sums over particles that are spread over the ranks of an MPI communicator; in libnbcc_mpi.
 *
 * Each rank owns some of the i and some of the j, any number, or none: they are what it binds to its own nbcc_sum. On
 * every i act the j of all ranks. Blocks of j travel around a ring of the ranks, the next one while the present one is
 * summed up. i_index and j_index count through all ranks, those of rank 0 first.
 *
 * All functions that take a ring are collective: every rank of the communicator calls them, in the same order. They
 * return the same status on every rank. Where a rank fails, all return its status and message, behind "rank N: " (of
 * several the lowest one's), no output is written anywhere, and nobody hangs. Failures of MPI itself are told by the
 * rank that sees them, as NBCC_ERROR_DEVICE; nothing can be agreed upon then. */
#ifndef NBCC_MPI_H
#define NBCC_MPI_H
#include <mpi.h>

#include "runtime/api/nbcc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nbcc_mpi_ring nbcc_mpi_ring;

/* A duplicate of the communicator, and buffers for blocks of j, for sums on `device`, which each rank opens for itself
 * and which must stay open. MPI must be initialised; one thread at a time uses the ring. */
NBCC_API nbcc_status nbcc_mpi_ring_create(MPI_Comm comm, nbcc_device* device, nbcc_mpi_ring** ring, nbcc_error** error);
/* Collective as well, and before MPI_Finalize; after that the memory alone is freed. Null is fine. */
NBCC_API void nbcc_mpi_ring_destroy(nbcc_mpi_ring* ring);

/* In place of nbcc_sum_run: sums over the j of all ranks for the chosen i of this one. `sum` is of the ring's device,
 * and on all ranks of the same pipeline with the same params; which arrays are bound, of which elements and strides,
 * every rank decides by itself. options may be null; i_begin, i_count, i_list, accumulate and stream are each rank's
 * own, `part` must be NBCC_WHOLE. Every reduction and finish() work as in one process; lists, batches, listed pairs and
 * exclusions are refused, since they name the j of one rank. The offsets of the sum are set to those of this rank.
 *
 * The results are those of one process but for the order in which terms are added: those of the rank's own j first, of
 * the rank before it, and so on around the ring. With as many ranks and the same particles on each, results have the
 * same bits from run to run. Outputs are written when all ranks have summed up all blocks: where any rank has failed
 * before, none has written. They may be the arrays of inputs.
 *
 * On a GPU blocks pass through pinned memory of the host, or where the MPI library says that it takes addresses of CUDA
 * from GPU to GPU. */
NBCC_API nbcc_status nbcc_mpi_run(nbcc_mpi_ring* ring, nbcc_sum* sum, const nbcc_run_options* options,
                                  nbcc_error** error);

/* Which i and j were of which rank in the last run: rank r had i_index i_first[r] to before i_first[r + 1], and
 * likewise j. Arrays of ranks + 1 numbers, which belong to the ring until its next run; before the first one all are 0.
 * Not collective. */
NBCC_API nbcc_status nbcc_mpi_ring_owners(const nbcc_mpi_ring* ring, const int64_t** i_first, const int64_t** j_first,
                                          nbcc_error** error);

#ifdef __cplusplus
}
#endif
#endif
