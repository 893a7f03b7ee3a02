/* Lists of all pairs within a cutoff, as arrays, without a pipeline. Part of nbcc.h. */
#ifndef NBCC_H
#error "include nbcc.h, which includes this file"
#endif
#ifndef NBCC_PAIR_LISTS_H
#define NBCC_PAIR_LISTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* A search on a device, with its working memory, which is kept from search to search. Used by one thread at a time. */
typedef struct nbcc_pair_search nbcc_pair_search;

/* The particles and what is a pair. All arrays are in the memory of the device, and stay unchanged until the pairs are
 * stored, which reads them again. A pair is (i, j, shift): j's image at
 * x[j] + shift[0] a + shift[1] b + shift[2] c, for the vectors a, b, c of the cell, is closer to i than the cutoff.
 * Every image within the cutoff is a pair, so a cutoff may span several cells. */
typedef struct nbcc_pair_query {
  size_t size;                   /* sizeof(nbcc_pair_query) */
  nbcc_view x;                   /* positions of the i: 3 components, NBCC_FLOAT or NBCC_DOUBLE_ELEMENT */
  nbcc_view y;                   /* positions of the j, of the same element type; all 0: i and j are one set */
  int64_t batches;               /* at most 2^31 - 1; 0: one system */
  const int64_t* i_batch;        /* [i] batch of each i; null: all of batch 0. Only pairs of one batch are found */
  const int64_t* j_batch;        /* [j] the same of the j; ignored if i and j are one set */
  const double* cells;           /* [batch][vector][component], any handedness; null: no axis is periodic */
  const int32_t* periodic;       /* [batch][axis] nonzero: periodic; null: all axes of all cells */
  double cutoff;                 /* the largest one; its square is a normal number of the element type of x */
  const double* cutoff_of_i;     /* [i], 0 to `cutoff`, with squares that are normal numbers or 0; null: one cutoff */
  const double* cutoff_of_types; /* [type of i][type of j], 0 to `cutoff`, with types and their arrays; null: none */
  int64_t types;                 /* 1 to 65535 */
  const int64_t* i_type;         /* [i] 0 to types - 1 */
  const int64_t* j_type;         /* [j]; ignored if i and j are one set */
  const int64_t* excluded_first; /* CSR: the j that are excluded for i, in all images, are */
  const int64_t* excluded_j;     /* excluded_j[excluded_first[i]], ...; null: none */
  int half;                      /* one set: each pair once, with i < j, or i = j and the first nonzero shift > 0 */
  int self;                      /* one set: with the pair of each particle and itself, at shift 0 */
  void* stream;                  /* CUstream; null: the default stream */
  int inclusive;                 /* nonzero: distance <= cutoff is within the cutoff; 0: distance < cutoff */
  nbcc_progress progress;        /* called during searches on the CPU; nonzero interrupts: NBCC_INTERRUPTED */
  void* progress_data;           /* its first argument */
} nbcc_pair_query;

/* The caller's arrays for the pairs, in the memory of the device. Pairs are in the order of i, then j, then shift, with
 * the same bits on every device. */
typedef struct nbcc_pair_arrays {
  size_t size;      /* sizeof(nbcc_pair_arrays) */
  int64_t capacity; /* number of pairs that i, j, shifts hold; entries without a pair get i = ni, j = nj, shift 0 */
  int64_t *i, *j;   /* [capacity] */
  int32_t* shifts;  /* [capacity][3]; null: none */
  int64_t* first;   /* [ni + 1] the pairs of i are first[i], ..., first[i + 1] - 1; null: none */
  int64_t* count;   /* [1] number of pairs found, or on a GPU -1 if a search without waiting failed; null: none */
} nbcc_pair_arrays;

NBCC_API nbcc_status nbcc_pair_search_create(nbcc_device* device, nbcc_pair_search** search, nbcc_error** error);
/* `search` null is fine. A search that was captured belongs to its graph, which uses its memory: it searches nothing
 * else, and is destroyed after the graph. */
NBCC_API void nbcc_pair_search_destroy(nbcc_pair_search* search);
/* Finds the pairs. With `count` it waits for their number. Positions that are not finite, or 2^29 cells or more away,
 * batches, types and cutoffs that are out of range, cells whose vectors are not independent, and cutoffs that span 999
 * cells or more are NBCC_ERROR_USAGE. On a GPU, `count` null: returns without waiting, as for a stream that is
 * captured; these errors then make nbcc_pair_arrays.count -1. Before a capture, search once for as many particles of
 * the same element type. */
NBCC_API nbcc_status nbcc_pair_search_run(nbcc_pair_search* search, const nbcc_pair_query* query, int64_t* count,
                                          nbcc_error** error);
/* Stores the pairs of the last search, in its stream; NBCC_ERROR_USAGE if there is none, or its run has failed. If
 * there are more pairs than the capacity, rows of i that do not fit are not stored. */
NBCC_API nbcc_status nbcc_pair_search_store(nbcc_pair_search* search, const nbcc_pair_arrays* arrays,
                                            nbcc_error** error);

/* The pairs that a sum's pipeline sums over, for an nbcc_pair_query: cutoff and periodic cell, with the current values
 * of the params, and the inputs that are positions. */
typedef struct nbcc_pair_space {
  size_t size;         /* sizeof(nbcc_pair_space); set by the caller */
  double cutoff;       /* of all pairs */
  int inclusive;       /* as of nbcc_pair_query */
  int self;            /* 0: a guard excludes the pair of a particle and itself, as skip_if(i_index == j_index) does */
  double cell[9];      /* [vector][component]; 0 along open axes */
  int32_t periodic[3]; /* [axis] */
  int i_field[3], i_component[3]; /* [axis] field of the pipeline, and its component, that is the coordinate of i */
  int j_field[3], j_component[3]; /* the same of j */
} nbcc_pair_space;

/* Fills `space`. NBCC_ERROR_USAGE, with the reason, if no cutoff is proved, or it is not one number for all pairs; if
 * positions are not 3 coordinates that are inputs; if the cutoff is more than half of the shortest period, because the
 * pipeline then sums over the nearest images alone; and for every_image(). */
NBCC_API nbcc_status nbcc_sum_get_pair_space(const nbcc_sum* sum, nbcc_pair_space* space, nbcc_error** error);

#ifdef __cplusplus
}
#endif
#endif
