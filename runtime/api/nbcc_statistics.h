/* Part of nbcc's C interface, included by nbcc.h: sums to a tolerance, and what the runs of a sum have done. */
#ifndef NBCC_H
#error "include nbcc.h, which includes this file"
#endif
#ifndef NBCC_STATISTICS_H
#define NBCC_STATISTICS_H

#ifdef __cplusplus
extern "C" {
#endif

/* For experiments: numbers that nbcc otherwise chooses, so that the tolerance is kept at the least cost. With any of
 * these, and lists, pairs and j as they must be, the far field is used at any cost. 0: chosen. */
typedef struct nbcc_far_choice {
  size_t size;       /* sizeof(nbcc_far_choice) */
  int order;         /* points along the longest side of a grid, 2 to 13 */
  int leaf;          /* particles of a leaf of the tree, at most */
  double separation; /* largest ratio of a cell's radius to its distance, below 1. The tolerance is then not kept, but
                        the error is measured */
} nbcc_far_choice;

/* Sums to a tolerance, in O(N) or O(N log N) instead of O(N^2) time, for pipelines with a far field: `nbcc check`
 * states whether a pipeline has one. Near pairs are computed one by one; grids of Chebyshev points stand for the
 * particles of distant cells (a dual tree traversal).
 *
 * Let e be the error of an output of i before finish() (for vectors, the length of the error), and s the sum of the
 * magnitudes of its terms. The root mean square of e / s over the sampled i is at most the tolerance, for each output.
 * The sample has 256 of the chosen i, more if there are few j. Their sums over all pairs are computed in double
 * precision in the first run with new params or numbers of particles, in the 2nd, 4th, 8th ... run after it, when many
 * particles have moved far or weights have changed by more than a common factor, and again from time to time. Where
 * terms cancel, the error relative to the sum is larger (nbcc_statistics.error_of_sum). The precision is raised above
 * that of the pipeline if the tolerance requires it.
 *
 * All pairs are summed instead if that is faster, if the sample does not keep the tolerance, or if a position or a
 * weight of a j is not finite. Their sample is measured as well, in the first run, in the 2nd, 4th, 8th ... and from
 * time to time: if the precision of the pipeline does not keep the tolerance, or terms are too small or too large for
 * it, they are summed in a higher one: nbcc_statistics.method is "far field", and order is 0. Otherwise method is "all
 * pairs", and nbcc_statistics.reason has the reason.
 *
 * Excluded pairs do not act; with other exclusions than in the run before the error is measured again. In a sum in
 * parts (nbcc_part) the error of each part is at most the tolerance, relative to the terms of that part; all parts need
 * the same tolerance, no lists and NBCC_PAIRS_AUTO. Each batch for which that is faster has a far field of its own
 * ("far batches"); other batches are summed over lists in the precision of the pipeline.
 *
 * There is no far field for 2^30 particles or more. All pairs are then summed in the precision of the pipeline, with
 * the reason in nbcc_statistics.reason. If the tolerance requires a higher precision, for all pairs or for some
 * batches, the run fails with NBCC_ERROR_USAGE, and the message has the precision for which to compile the pipeline.
 * Lists, listed pairs, and other values of nbcc_sum_set_pairs than NBCC_PAIRS_AUTO are the caller's choice of pairs:
 * they are summed in the precision of the pipeline, and the tolerance has no effect.
 *
 * Pipelines without a far field whose loops over more than 32 elements are products of vectors are summed over all
 * pairs on GPUs from compute capability 8.0 on, by matrix instructions in the lowest precision that keeps the tolerance
 * (docs/how_to/kernel_methods.md): nbcc_statistics.method is "matrix units", precision says which, and error is as
 * above; of a minimum, a maximum or a choice (argmin, argmax) it is relative to the largest magnitude of a value, of a
 * logsumexp it is the difference. The pairs of a choice are computed again in single precision.
 *
 * A run whose far field does not fit the memory of the device fails with NBCC_ERROR_DEVICE; the message has both sizes.
 *
 * tolerance: from 1e-14 to 1; 0 (the default): none. experiment: null, except for experiments.
 * NBCC_ERROR_USAGE: the tolerance or a number of the experiment is not in its range; the pipeline has neither a far
 * field nor such products (the message has the reason; so has a library that was compiled without `--with tolerance`).
 * NBCC_ERROR_DEVICE: its kernels cannot be compiled. On failure the previous tolerance remains in effect. */
NBCC_API nbcc_status nbcc_sum_set_tolerance(nbcc_sum* sum, double tolerance, const nbcc_far_choice* experiment,
                                            nbcc_error** error);

/* Counts and times of all runs over neighbours since the sum was made, the method of the last run, and the numbers of a
 * run with a far field. Times are wall-clock seconds, not CPU seconds. */
typedef struct nbcc_statistics {
  size_t size;           /* sizeof(nbcc_statistics); set by the caller */
  int64_t pairs_tested;  /* pairs that the kernel tested against the cutoff */
  int64_t searches;      /* runs that searched, because no valid neighbour lists were kept */
  int64_t runs;          /* runs over neighbours */
  int64_t pairs_within;  /* pairs within the proved reach in the last run, counted by nbcc_sum_get_statistics, which
                            takes longer than a run; 0 if that run was over all pairs, or over several
                            batches with every_image() and no skin */
  double seconds_locate; /* packing particles and computing their positions */
  double seconds_sort;   /* sorting them */
  double seconds_lists;  /* finding the j near each group of i, and copying them to contiguous memory */
  double seconds_sums;   /* summing over these j */
  const char* method;    /* how the last run chose its pairs: "all pairs", "search", "lists", "listed pairs", "batches",
                            "nearest", "far field", "far batches", "matrix units"; "" before the first run. Valid until the
                            next call    for this sum */
  const char* reason;    /* why: the caller's choice, or the estimated cost of each method that could do the run, in
                            pairs of a sum over all pairs, and the obstacles of the other methods */

  /* If the last run had a tolerance that the method took into account; otherwise 0 and "". */
  double tolerance;     /* as it was set */
  double error;         /* root mean square of e / s over the sampled i (nbcc_sum_set_tolerance), of the output with the
                           largest; measured in the last run, or runs_since_error runs before it */
  double largest_error; /* the largest e / s of a sampled i */
  double error_of_sum;  /* root mean square of the error relative to the sum; not bounded by the tolerance */
  int64_t sampled;      /* number of sampled i; 0: no error was measured */
  double pairs_per_i;   /* pairs that kernels evaluated for each chosen i: pairs of particles, and of points of grids */
  int order;            /* points along the longest side of a grid; 0: all pairs */
  int leaf;             /* particles of a leaf of the tree, at most */
  double separation;    /* the largest ratio of a cell's radius to its distance at which a grid could be used */
  const char* precision; /* of the sums: "single", "mixed", "double". Valid until the next call for this sum */
  /* Seconds of the last run: */
  double seconds_particles; /* positions, weights of j and factors of i */
  double seconds_tree;      /* building the trees */
  double seconds_walk;      /* finding the near and distant pairs of cells */
  double seconds_up;        /* from the weights of particles to those of grids */
  double seconds_near;      /* near pairs */
  double seconds_distant;   /* distant pairs, with grids */
  double seconds_down;      /* from grids to particles, and finish() */
  double seconds_first;     /* choosing the numbers, with the sums over all pairs of the sample; 0 in other runs */

  int64_t terms_outside; /* terms of histograms of the last run that named no element, and were not counted */

  /* If the last run had a tolerance: runs since the one in which `error` and the two after it were measured. 0: they
   * are the errors of the last run, or none was measured (sampled is 0). */
  int64_t runs_since_error;

  /* Of a periodic sum (every_image() without a cutoff), otherwise 0 and "": */
  int images;       /* near images of each j, which act by pairs of particles and of grids */
  int image_points; /* points of the cell through which all other images act */
  double mismatch;  /* what the table of these lacks to be periodic: root mean square, relative to the terms of the
                       near images */
  const char* convention; /* what is summed, by output: how the terms decay, and which constant the sum over all images
                             has. Valid until the next call for this sum */
} nbcc_statistics;
NBCC_API nbcc_status nbcc_sum_get_statistics(const nbcc_sum* sum, nbcc_statistics* statistics, nbcc_error** error);
/* nbcc_statistics.method alone, which takes no time. "" before the first run, and for NULL. Valid as long as the sum.
 */
NBCC_API const char* nbcc_sum_method(const nbcc_sum* sum);

#ifdef __cplusplus
}
#endif
#endif
