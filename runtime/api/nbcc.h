/* nbcc's C interface: load a pipeline, bind particle arrays, sum over j for every i.
 * Handles are opaque. A function that can fail returns an nbcc_status and, if its last argument is not null, an
 * nbcc_error with the reason; free it with nbcc_error_free. Different handles may be used from different threads at
 * once, one nbcc_sum from one thread at a time. The only global state belongs to the functions of compiled pipelines
 * that take no handle: one device for all of them, and nbcc_last_error. No function prints or exits. Strings are UTF-8
 * and zero-terminated; returned strings belong to their handle. [jit]: in libnbcc_jit, others in libnbcc_runtime. */
#ifndef NBCC_H
#define NBCC_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NBCC_VERSION_MAJOR 0
#define NBCC_VERSION_MINOR 1
#define NBCC_VERSION_PATCH 0

#if defined(__GNUC__)
#define NBCC_API __attribute__((visibility("default")))
#else
#define NBCC_API
#endif

typedef enum nbcc_status {
  NBCC_OK = 0,
  NBCC_ERROR_INPUT = 1,     /* the pipeline's text has errors: the message holds the diagnostics */
  NBCC_ERROR_USAGE = 2,     /* a wrong argument, an unbound field, a file that cannot be read */
  NBCC_ERROR_DEVICE = 3,    /* no such device, its toolchain failed, or no memory or thread is left */
  NBCC_INTERRUPTED = 4,     /* the progress callback has asked for an interrupt: nbcc_sum_set_progress */
  NBCC_ERROR_INTERNAL = 101 /* a bug in nbcc; please report the message */
} nbcc_status;

typedef struct nbcc_error nbcc_error;
NBCC_API const char* nbcc_error_message(const nbcc_error* error); /* "" for a null pointer */
NBCC_API nbcc_status nbcc_error_status(const nbcc_error* error);
NBCC_API void nbcc_error_free(nbcc_error* error); /* null is fine */
/* Stores an error in *error if `error` is not null, and returns the status. For libraries built on this one. */
NBCC_API nbcc_status nbcc_error_make(nbcc_error** error, nbcc_status status, const char* message);

/* The message of this thread's last failure in a function without nbcc_error**, until the next one; "" if none. */
NBCC_API const char* nbcc_last_error(void);
/* The warnings of this thread's last run of a compiled pipeline's function, a line each. Valid until the next one. */
NBCC_API const char* nbcc_last_warning(void);

NBCC_API const char* nbcc_version(void); /* the library's version, such as "0.1.0" */

/* ---- devices ------------------------------------------------------------------------------------------- */

typedef struct nbcc_device nbcc_device;

typedef struct nbcc_device_options {
  size_t size;           /* sizeof(nbcc_device_options), so that the struct may grow */
  int threads;           /* CPU: threads to use; 0 means all cores that this process may run on */
  const char* isa;       /* CPU: "sse2", "avx2", "avx512"; null means the best that this machine supports */
  const char* cache_dir; /* folder of compiled kernels; null means $NBCC_CACHE_DIR, $XDG_CACHE_HOME/nbcc or
                            ~/.cache/nbcc; "" means no disk cache */
  const char* dump_dir;  /* folder to which every compilation stage is written; null means $NBCC_DUMP, "" none */
} nbcc_device_options;

/* name: "cpu"; or a CUDA GPU: "cuda:0", "cuda:1", ..., "cuda" for the first; or several GPUs of one model as one
 * device: "cuda:0,2", "cuda:all". Results on several GPUs are equal bit for bit to those on one of them. Each GPU is
 * used through its primary context, as programs of the CUDA runtime use it; the caller's current context is restored.
 * options may be null. */
NBCC_API nbcc_status nbcc_device_open(const char* name, const nbcc_device_options* options, nbcc_device** device,
                                      nbcc_error** error);
NBCC_API void nbcc_device_close(nbcc_device* device); /* pipelines opened on it stay valid */
NBCC_API const char* nbcc_device_name(
    const nbcc_device* device); /* e.g. "cpu, avx2, 2 threads", "cuda:0, NVIDIA H200, sm_90" */
/* The number of GPUs that the CUDA driver reports. Without a driver or GPU the status is NBCC_ERROR_DEVICE. */
NBCC_API nbcc_status nbcc_cuda_count(int* count, nbcc_error** error);

/* Allocates device memory, for arrays that runs use without a copy; on the CPU this is host memory. Aligned to at least
 * 64 bytes, uninitialized; not null for 0 bytes either. Free the memory while the device is open and no run uses it;
 * null is fine. */
NBCC_API nbcc_status nbcc_device_allocate(nbcc_device* device, size_t bytes, void** memory, nbcc_error** error);
/* Allocates host memory that a GPU reads and writes over the bus (pinned memory), for arrays and lists of i: for
 * the few numbers that host and GPU exchange after every run. It counts as memory of the device. After waiting for a
 * run the host sees its results, and may write the inputs of the next run. On the CPU the same as
 * nbcc_device_allocate. */
NBCC_API nbcc_status nbcc_device_allocate_shared(nbcc_device* device, size_t bytes, void** memory, nbcc_error** error);
NBCC_API void nbcc_device_free(nbcc_device* device, void* memory); /* of either kind */
/* Copy between host memory and such memory, or any other memory of this GPU. A copy begins when earlier work in the
 * legacy default stream is done; the function returns when the copy is done. */
NBCC_API nbcc_status nbcc_device_write(nbcc_device* device, void* to, const void* from_host, size_t bytes,
                                       nbcc_error** error);
NBCC_API nbcc_status nbcc_device_read(nbcc_device* device, void* to_host, const void* from, size_t bytes,
                                      nbcc_error** error);

/* Sets *holds to 1 if an address is in memory of the device, of either kind, and to 0 if it is in ordinary host memory;
 * on the CPU always 0. */
NBCC_API nbcc_status nbcc_device_holds(nbcc_device* device, const void* memory, int* holds, nbcc_error** error);

/* ---- pipelines ----------------------------------------------------------------------------------------- */

typedef struct nbcc_pipeline nbcc_pipeline;

typedef enum nbcc_precision { NBCC_SINGLE = 0, NBCC_MIXED = 1, NBCC_DOUBLE = 2 } nbcc_precision;
typedef enum nbcc_math { NBCC_FAST = 0, NBCC_PRECISE = 1 } nbcc_math;
typedef enum nbcc_root { NBCC_ROOT_REFINED = 0, NBCC_ROOT_ESTIMATE = 1, NBCC_ROOT_EXACT = 2 } nbcc_root;

typedef struct nbcc_pipeline_options {
  size_t size;
  nbcc_precision precision;
  nbcc_math math;
  nbcc_root root;
} nbcc_pipeline_options;

/* Compiles a pipeline for a device. name appears in diagnostics as the file's name. options may be null. */
NBCC_API nbcc_status nbcc_pipeline_from_text(nbcc_device* device, const char* text, const char* name,
                                             const nbcc_pipeline_options* options, nbcc_pipeline** pipeline,
                                             nbcc_error** error); /* [jit] */
NBCC_API nbcc_status nbcc_pipeline_from_file(nbcc_device* device, const char* path,
                                             const nbcc_pipeline_options* options, nbcc_pipeline** pipeline,
                                             nbcc_error** error); /* [jit] */
NBCC_API void nbcc_pipeline_close(nbcc_pipeline* pipeline);       /* sums made of it stay valid */
NBCC_API const char* nbcc_pipeline_name(const nbcc_pipeline* pipeline);
/* Floating point operations per interaction: the convention stated in the file, else the raw count. */
NBCC_API double nbcc_pipeline_operations(const nbcc_pipeline* pipeline);
/* The pairs that can contribute, as proved from the guards of the text: "|xj - xi| < rc in the periodic box `box`".
   Empty if nothing is proved; then `nbcc_pipeline_no_neighbours` gives the reason, if a guard looks like a cutoff. */
NBCC_API const char* nbcc_pipeline_neighbours(const nbcc_pipeline* pipeline);
NBCC_API const char* nbcc_pipeline_no_neighbours(const nbcc_pipeline* pipeline);

#include "runtime/api/nbcc_fields.h" /* nbcc_role, nbcc_reduction, nbcc_field, nbcc_pipeline_field */

/* ---- texts ---------------------------------------------------------------------------------------------- */

/* The result of a function that takes a pipeline's text and no device: a text, and the diagnostics of the pipeline. */
typedef struct nbcc_report nbcc_report;

typedef enum nbcc_severity { NBCC_SEVERITY_NOTE = 0, NBCC_SEVERITY_WARNING = 1, NBCC_SEVERITY_ERROR = 2 } nbcc_severity;

typedef struct nbcc_diagnostic {
  nbcc_severity severity;
  int line, column;     /* in the pipeline's text, from 1 (columns in bytes); 0: the entire text */
  const char* message;  /* "use of undeclared identifier 'r3'" */
  const char* rendered; /* as it is printed: file:line:column: error: message, the source line, a caret */
} nbcc_diagnostic;

/* The pipelines that nbcc brings along. Their names, each followed by a line break; the text of one, null if there is
 * none of this name. nbcc_pipeline_from_file takes such a name too, where there is no file that is called so. */
NBCC_API const char* nbcc_library_names(void);            /* [jit] */
NBCC_API const char* nbcc_library_text(const char* name); /* [jit] */
/* Errors, warnings and fields of a text; the report's text is all diagnostics, rendered. If there are errors the status
 * is NBCC_ERROR_INPUT, and the report is still made, without fields. */
NBCC_API nbcc_status nbcc_check_text(const char* text, const char* name, nbcc_report** report,
                                     nbcc_error** error); /* [jit] */
/* The output of a compilation stage: "ir", "optimized" (for the CPU), "cpu", "cpu-symmetric", "asm", "cuda",
 * "cuda-search", "cuda-lists", "cuda-pairs", "cuda-symmetric". isa: null means the best that this machine supports.
 * options may be null. The diagnostics are the warnings. */
NBCC_API nbcc_status nbcc_emit_text(const char* text, const char* name, const char* stage,
                                    const nbcc_pipeline_options* options, const char* isa, nbcc_report** report,
                                    nbcc_error** error); /* [jit] */
/* Derivatives (adjoints). Let L be any scalar function of a pipeline's outputs; d_X denotes dL/dX. The side chooses by
 * which inputs L is differentiated:
 */
typedef enum nbcc_adjoint_side {
  NBCC_ADJOINT_I = 0,       /* by inputs of i and of pairs, and by params; by a param as an output(total) */
  NBCC_ADJOINT_J = 1,       /* by inputs of j; the new pipeline has the sides i and j exchanged */
  NBCC_ADJOINT_ONE_SET = 2, /* by inputs of both, if i and j are the same particles in the same order: one sum. Names
                               that differ only in their last letter, as xi and xj, are one input; any other field is
                               also an input of the other side, named NAME_i or NAME_j there */
  NBCC_ADJOINT_FORWARD = 3, /* no derivative: the pipeline with the additional outputs that its adjoints take */
  NBCC_ADJOINT_EACH_I = 4,  /* as NBCC_ADJOINT_I, but of a param each i has its contribution, to be added up */
  NBCC_ADJOINT_TANGENT = 5, /* forward mode: t_NAME of the outputs, their rates when inputs and params have the rates
                               t_X, which are inputs and params like X */
  NBCC_ADJOINT_EACH_J = 6   /* as NBCC_ADJOINT_J; the params that `by` names are inputs of the first pipeline's i */
} nbcc_adjoint_side;
/* The text of a pipeline whose outputs are the d_X. Its inputs are those of the first pipeline and, for each i of that
 * pipeline, d_NAME of the outputs and, if derivatives need them, saved forward results: raw_NAME, an output before
 * finish() (without finish() the output itself); at_NAME, the j_index of a minimum or maximum; z_NAME, the logarithm of
 * the sum of a softmax's weights; image_NAME_0, _1 and _2, with every_image() the image_index of a minimum or maximum.
 * A d_NAME of an output(pair) has a row for each pair, of a histogram of the run it is a param. For a total that is a
 * minimum or maximum (or a logsumexp with finish()) the forward pipeline has i_NAME, the values of each i that it
 * reduces, by which L is to be differentiated instead. A name differs if the first pipeline has a field of that name;
 * see nbcc_report_adjoint_field for the meaning of each field. of: the names of the outputs that L depends on
 * (additional outputs of the forward pipeline are allowed); by: the names of the fields by which L is differentiated;
 * separated by commas; null: all real numbers. A field without a derivative is NBCC_ERROR_USAGE. The diagnostics are
 * the warnings of the text, and behind them one if a derivative is infinite or NaN for the pair of a particle with
 * itself. */
NBCC_API nbcc_status nbcc_adjoint_text(const char* text, const char* name, nbcc_adjoint_side side, const char* of,
                                       const char* by, nbcc_report** report, nbcc_error** error); /* [jit] */
/* The pipeline with an additional output, the virial of a force: FORCE_virial, six numbers for ab = xx, yy, zz, xy, xz,
 * yz, each half of the sum of (x_i - x_j)_a f_b over the j of each i, where f is the force of the pair on i. Summed
 * over all i this is the virial of the pairs, if each pair is computed from both ends with opposite forces. force: an
 * output(sum) of type vec3 that finish() does not change; place_i, place_j: the positions, inputs of type vec3, whose
 * difference is used as the force uses it: in a periodic box or cell its nearest image. NBCC_ERROR_USAGE if the force
 * has no virial, or if the text takes images of the difference that are not proved to be the nearest. The diagnostics
 * are the warnings of the text. */
NBCC_API nbcc_status nbcc_virial_text(const char* text, const char* name, const char* force, const char* place_i,
                                      const char* place_j, nbcc_report** report, nbcc_error** error); /* [jit] */
NBCC_API const char* nbcc_report_text(const nbcc_report* report);     /* [jit] "" for a null pointer */
NBCC_API int nbcc_report_diagnostic_count(const nbcc_report* report); /* [jit] */
/* Diagnostic k in the order of the text; 0 on success, -1 when there is none. */
NBCC_API int nbcc_report_diagnostic(const nbcc_report* report, int k, nbcc_diagnostic* diagnostic); /* [jit] */
/* Field k of the text of nbcc_check_text; 0 on success, -1 when there is none. The strings belong to the report. */
NBCC_API int nbcc_report_field(const nbcc_report* report, int k, nbcc_field* field); /* [jit] */
/* The meaning of a field of an adjoint pipeline; `of` is a field of the first pipeline, or an output of the forward
 * pipeline. */
typedef enum nbcc_adjoint_meaning {
  NBCC_ADJOINT_VALUE = 0,     /* the field `of` of the first pipeline itself */
  NBCC_ADJOINT_GIVEN = 1,     /* an input: dL/d of the output `of`, one row for each i of the first pipeline; of a
                                 tangent the rate of the input or param `of` */
  NBCC_ADJOINT_SAVED = 2,     /* an input: the output `of` of the forward pipeline */
  NBCC_ADJOINT_DERIVATIVE = 3 /* an output: dL/d of the input or param `of`; of a tangent the rate of the output `of` */
} nbcc_adjoint_meaning;
typedef struct nbcc_adjoint_field {
  const char* name; /* as declared in the text */
  nbcc_adjoint_meaning meaning;
  const char* of;
  const char* partner; /* for an input with NBCC_ADJOINT_VALUE: the input of the first pipeline's other side that is the
                          same array if i and j are one set; for a saved result with the values of i that a total
                          reduces: the total; "": none */
} nbcc_adjoint_field;
NBCC_API int nbcc_report_adjoint_field_count(const nbcc_report* report); /* [jit] 0: not a report on an adjoint */
/* Field k in the order of the text; 0 on success, -1 when there is none. The strings belong to the report. */
NBCC_API int nbcc_report_adjoint_field(const nbcc_report* report, int k, nbcc_adjoint_field* field); /* [jit] */
NBCC_API void nbcc_report_free(nbcc_report* report); /* [jit] null is fine */

/* ---- sums ---------------------------------------------------------------------------------------------- */

typedef struct nbcc_sum nbcc_sum;

/* NBCC_HALF, NBCC_BFLOAT16: 16-bit numbers (IEEE 754 binary16; the upper half of a float). They are read as floats; a
 * result is rounded to them once. In a GPU's memory a run copies them to floats there; histograms are not 16-bit. */
typedef enum nbcc_element {
  NBCC_FLOAT = 0,
  NBCC_DOUBLE_ELEMENT = 1,
  NBCC_INT32 = 2,
  NBCC_INT64 = 3,
  NBCC_HALF = 4,
  NBCC_BFLOAT16 = 5
} nbcc_element;

/* An array of count particles; component c of particle k is at data + k * stride + c * component_stride (in bytes; may
 * be negative). Strides describe structures of arrays (SoA) as well as arrays of structures (AoS). The caller owns the
 * memory, which must outlive the runs that use it.
 *
 * On a GPU each array may be in host memory, in memory of this GPU, or in managed memory; nbcc determines which when
 * the array is bound. Arrays on the device are used without a copy, and must be aligned to their elements. */
typedef struct nbcc_view {
  void* data;
  nbcc_element element;
  int64_t count;
  int64_t stride;
  int64_t component_stride;
} nbcc_view;

NBCC_API nbcc_status nbcc_sum_create(nbcc_pipeline* pipeline, nbcc_sum** sum, nbcc_error** error);
NBCC_API void nbcc_sum_destroy(nbcc_sum* sum);

/* Sets a param: `count` values, one per component. */
NBCC_API nbcc_status nbcc_sum_set_param(nbcc_sum* sum, const char* name, const double* values, int count,
                                        nbcc_error** error);
/* Binds an array to an input or output. All i-fields (inputs and outputs) must have the same count, and all j-fields.
 * Inputs are only read. */
NBCC_API nbcc_status nbcc_sum_bind(nbcc_sum* sum, const char* name, const nbcc_view* view, nbcc_error** error);
/* Ignores an output: it is not written and needs no array. */
NBCC_API nbcc_status nbcc_sum_ignore(nbcc_sum* sum, const char* name, nbcc_error** error);
/* Sets the numbers that are added to i_index and j_index, for bound arrays that are slices of larger ones. */
NBCC_API nbcc_status nbcc_sum_set_offsets(nbcc_sum* sum, int64_t i_offset, int64_t j_offset, nbcc_error** error);
/* The number of particles, for a side whose fields are all absent from the pipeline (else it follows from the views).
 */
NBCC_API nbcc_status nbcc_sum_set_counts(nbcc_sum* sum, int64_t ni, int64_t nj, nbcc_error** error);
/* Field k of the sum's pipeline, as nbcc_pipeline_field gives it. The strings belong to the sum. */
NBCC_API int nbcc_sum_field(const nbcc_sum* sum, int k, nbcc_field* field);
/* The array that is bound to an input or output; all zeros if it is ignored or not bound. And the numbers of particles
 * of a run, if all fields that it needs are bound. For libraries that run sums created by other code. */
NBCC_API nbcc_status nbcc_sum_get_view(nbcc_sum* sum, const char* name, nbcc_view* view, nbcc_error** error);
NBCC_API nbcc_status nbcc_sum_get_counts(nbcc_sum* sum, int64_t* ni, int64_t* nj, nbcc_error** error);
/* keep != 0: the next run reads and packs the j-particles, which then stay packed until they are bound again or
 * nbcc_sum_j_changed is called. 0 (the default): every run reads them again. Arrays on a GPU are read by every run. */
NBCC_API nbcc_status nbcc_sum_keep_j(nbcc_sum* sum, int keep, nbcc_error** error);
NBCC_API nbcc_status nbcc_sum_j_changed(nbcc_sum* sum, nbcc_error** error);

/* Which pairs later runs compute. NBCC_PAIRS_ALL: all. NBCC_PAIRS_AUTO (the default): only the pairs within the reach
 * that is proved from the pipeline's guards (nbcc_pipeline_neighbours), if a search for them is likely to be faster;
 * the results are those of all pairs, except for the order of summation. NBCC_PAIRS_CUTOFF: those pairs in any case;
 * NBCC_ERROR_USAGE if nothing is proved.
 *
 * NBCC_PAIRS_AUTO decides as follows. On the CPU, if ni * nj > 1500 ni + 500 nj (2000 of each), it estimates the cost
 * from a sample of pairs; with a box length of 0 it sums over all pairs. A GPU searches from about a million
 * pairs per multiprocessor on (11,500 particles on a GPU with 132), unless reach and box depend only on params and
 * constants and more than a tenth of the box is within reach, or the caller has set the launch configuration. */
typedef enum nbcc_pairs { NBCC_PAIRS_AUTO = 0, NBCC_PAIRS_ALL = 1, NBCC_PAIRS_CUTOFF = 2 } nbcc_pairs;
NBCC_API nbcc_status nbcc_sum_set_pairs(nbcc_sum* sum, nbcc_pairs pairs, nbcc_error** error);

/* Whether a sum over all pairs, and on the CPU a sum over the pairs of a search, computes each pair once, for both of
 * its particles, where i and j are one set: partner fields such as xi and xj are bound to the same arrays. Only the
 * order of summation changes; it does not depend on the number of threads or GPUs. NBCC_SYMMETRIC_AUTO (the default):
 * from 4096 particles on, if the terms of a pair have enough operations in common. NBCC_SYMMETRIC_OFF: never.
 * NBCC_SYMMETRIC_ALWAYS: wherever it is possible; all pairs do not replace a search that is cheaper. No effect with a
 * tolerance. nbcc_sum_get_statistics says what the last run did, and why. NBCC_SYMMETRIC_LISTED: each listed pair (i,
 * j) adds to the outputs of both, as half neighbour lists do; NBCC_ERROR_USAGE if no pairs are listed, if some i are
 * chosen, if a particle is listed with itself, on a GPU, if a param that nbcc_pipeline_needs_symmetric names is not
 * symmetric, and if nbcc_pipeline_listed_once is. */
typedef enum nbcc_symmetric {
  NBCC_SYMMETRIC_AUTO = 0,
  NBCC_SYMMETRIC_OFF = 1,
  NBCC_SYMMETRIC_ALWAYS = 2,
  NBCC_SYMMETRIC_LISTED = 3
} nbcc_symmetric;
NBCC_API nbcc_status nbcc_sum_set_symmetric(nbcc_sum* sum, nbcc_symmetric choice, nbcc_error** error);
/* The operations of a pair for both of its particles, divided by those of computing it twice: 0.5 to about 1.
 * NBCC_ERROR_USAGE, with the reason, if the pipeline cannot be summed so: outputs that are no sums, counts, minima or
 * maxima, inputs or results of pairs, libraries that were compiled without `--with symmetric`. */
NBCC_API nbcc_status nbcc_pipeline_listed_once(const nbcc_pipeline* pipeline, double* cost, nbcc_error** error);
/* 1 if the terms of both particles are opposite or equal only where this param has T[a][b] = T[b][a]; else 0. */
NBCC_API int nbcc_pipeline_needs_symmetric(const nbcc_pipeline* pipeline, const char* param);

/* Neighbour lists are kept from run to run until a particle has moved by half of `skin`, or the box, a reach or the
 * number of particles has changed: for particles that move little between runs. In units of positions; 0 (the default):
 * every run searches. NBCC_ERROR_USAGE if no reach is proved. */
NBCC_API nbcc_status nbcc_sum_set_skin(nbcc_sum* sum, double skin, nbcc_error** error);

/* Lists of the caller: groups of i, each with ranges of j that act on it. For tree codes, domain decompositions and
 * other programs that know which particles are near each other. Groups and ranges consist of slots; `i_order` and
 * `j_order` map a slot to a particle. Every i is in exactly one group. Groups and ranges may be empty and in any order;
 * a j that is in several ranges acts once for each. Each array may be on the host or on the device of the sum. */
typedef struct nbcc_lists {
  size_t size;                /* sizeof(nbcc_lists) */
  int64_t groups, ranges;     /* numbers of groups and ranges */
  const int64_t* i_first;     /* [groups + 1], rising from 0: group g has the i-slots i_first[g] to i_first[g+1] - 1 */
  const int64_t* i_order;     /* [i_first[groups]]: the i-particle of a slot; null: slot k is particle k */
  const int64_t* range_first; /* [groups + 1], rising from 0 to `ranges`: the first range of each group */
  const int64_t* j_begin;     /* [ranges]: first j-slot of a range */
  const int64_t* j_end;       /* [ranges]: one past the last j-slot of a range */
  const int64_t* j_order;     /* [j_count]: the j-particle of a slot; null: slot k is particle k */
  int64_t j_count;
  const double* shifts; /* [ranges][axes]: added to the positions of a range's j, in their unit; null: none. Only for
                           pipelines for which nbcc_pipeline_neighbours shows which inputs of j are positions */
  int axes;             /* components of a shift, as many as positions have */
} nbcc_lists;

/* Later runs are over the pairs of these lists; with NBCC_PAIRS_CUTOFF a run is an error. If each group
 * has one range of all j the results are those of all pairs, except for the order of summation. `lists` null: removes
 * the lists. The arrays are copied and checked: NBCC_ERROR_USAGE names the entry, its value and the valid values; each
 * run checks that the numbers of particles fit. On failure the previous lists stay in effect. */
NBCC_API nbcc_status nbcc_sum_set_lists(nbcc_sum* sum, const nbcc_lists* lists, nbcc_error** error);

/* Many independent systems in one run: the j of a batch act on the i of the same batch. `i_batch` and `j_batch` are the
 * batch ids of all particles, 0 <= id < batches, in rising order; time and memory depend on the number of particles,
 * not on `batches`. i_index, j_index and chosen indices count all particles, not those of a batch. Replaces lists.
 * `batches` = 0 and null ids: removes the batches.
 *
 * With a proved cutoff each large batch, and with NBCC_PAIRS_CUTOFF every batch, is summed by a separate search;
 * NBCC_PAIRS_CUTOFF is then an error if an output overlaps an input in memory. A run with such searches cannot be
 * captured into a graph, counts as one run per searched batch in the statistics, and may have stored some batches when
 * memory for another is lacking. */
NBCC_API nbcc_status nbcc_sum_set_batches(nbcc_sum* sum, int64_t batches, int64_t ni, const int64_t* i_batch,
                                          int64_t nj, const int64_t* j_batch, nbcc_error** error);
/* Sets values of a param for each batch, or each group of the lists: values[batch][component], `count` numbers. In
 * effect until nbcc_sum_set_param is called for this param, or other batches or lists are set. */
NBCC_API nbcc_status nbcc_sum_set_batch_param(nbcc_sum* sum, const char* name, const double* values, int64_t count,
                                              nbcc_error** error);

/* Pairs listed one by one (CSR form): the j that act on i are j[first[i]], ..., j[first[i + 1] - 1], in any order; a
 * repeated j acts repeatedly. `first` rises from 0 to `count`. Inputs of pairs (input_pair) have a row for each entry
 * of j. A pipeline with such inputs runs over listed pairs only. Replaces lists. `first` null: removes the pairs. */
NBCC_API nbcc_status nbcc_sum_set_listed_pairs(nbcc_sum* sum, int64_t ni, const int64_t* first, int64_t count,
                                               const int64_t* j, nbcc_error** error);
/* Excluded pairs, in the same form; for example bonded pairs. Runs over all pairs, a search, lists and batches skip
 * them before anything is computed; with listed pairs they are NBCC_ERROR_USAGE. `first` null: removes them. Of
 * pipelines with every_image() all images are excluded (without a cutoff the nearest), or image_index() images[][3]. */
NBCC_API nbcc_status nbcc_sum_set_exclusions(nbcc_sum* sum, int64_t ni, const int64_t* first, int64_t count,
                                             const int64_t* j, nbcc_error** error);
NBCC_API nbcc_status nbcc_sum_set_excluded_images(nbcc_sum* sum, int64_t ni, const int64_t* first, int64_t count,
                                                  const int64_t* j, const int64_t* images, nbcc_error** error);
/* Nonzero if lists, batches, listed pairs or exclusions are set. */
NBCC_API int nbcc_sum_has_lists(const nbcc_sum* sum);

/* A neighbour list: the pairs that pass the guards' comparisons of distances, in the arithmetic of the sums, without
 * excluded pairs. If both sides are one set, the pair of a particle with itself is included, unless a guard of the text
 * excludes it, as skip_if(i_index == j_index) does. The neighbours of i are
 * j[first[i]], ..., j[first[i + 1] - 1], in rising order. nbcc_sum_set_lists and nbcc_sum_set_listed_pairs accept these
 * arrays without conversion. */
typedef struct nbcc_neighbour_list {
  size_t size;          /* sizeof(nbcc_neighbour_list); set by the caller */
  int64_t ni, count;    /* numbers of i and of pairs */
  int axes;             /* components of a position */
  const int64_t* first; /* [ni + 1] */
  const int64_t* j;     /* [count] */
  const double* shifts; /* [count][axes]: added to the position of j, gives its periodic image nearest to i */
  void* owner;          /* owner of the arrays */
} nbcc_neighbour_list;

/* Fills `found` for all i, from the current contents of the arrays; free it with nbcc_neighbour_list_free.
 * NBCC_ERROR_USAGE if no reach is proved, and on GPUs. */
NBCC_API nbcc_status nbcc_sum_find_neighbours(nbcc_sum* sum, nbcc_neighbour_list* found, nbcc_error** error);
NBCC_API void nbcc_neighbour_list_free(nbcc_neighbour_list* found); /* null is fine */

/* The k-th warning (from 0) of the sum's last run or search for neighbours: a sentence about results that may not be
 * what the caller expects, such as a cutoff beyond half of the periodic box. Null if there are fewer warnings. A
 * warning that applies to the next run as well keeps its text, with the numbers of the first run that had it, so that a
 * program may show only new texts. Valid until the sum's next run. */
NBCC_API const char* nbcc_sum_warning(const nbcc_sum* sum, int k);

/* The launch configuration of a GPU kernel. 0: nbcc chooses, by measurements of `nbcc tune` or its model of the GPU. */
typedef struct nbcc_launch_configuration {
  size_t size;
  int threads;      /* threads of a block */
  int i_per_thread; /* i-particles that a thread holds in registers */
  int j_tile;       /* j-particles staged in shared memory at a time */
  int unroll;       /* iterations of the pair loop written out, a power of two */
  int j_slices;     /* threads of a block that share i-particles; each sums over one slice of the j-particles */
  int j_splits;     /* blocks that share i-particles; each sums over one split of the j-particles */
} nbcc_launch_configuration;

/* Sets the launch configuration of later runs; null (the default): nbcc chooses. The last bits of results depend on it.
 * NBCC_ERROR_USAGE, in the run or the next function: the pipeline cannot be compiled with it. No effect on the CPU. */
NBCC_API nbcc_status nbcc_sum_set_launch_configuration(nbcc_sum* sum, const nbcc_launch_configuration* configuration,
                                                       nbcc_error** error);
/* Gets the launch configuration of a run over nj j-particles for ni i-particles whose arrays are on the device;
 * compiles the kernel if it is not compiled yet. The caller sets configuration->size. All numbers are 0 on the CPU. */
NBCC_API nbcc_status nbcc_sum_get_launch_configuration(nbcc_sum* sum, int64_t ni, int64_t nj,
                                                       nbcc_launch_configuration* configuration, nbcc_error** error);

/* A sum over all j in one run (NBCC_WHOLE, the default) or in several runs, each over a part of the j: from
 * NBCC_FIRST_PART over NBCC_NEXT_PART to NBCC_LAST_PART. Before the run of a part bind its j, set the offset of their
 * j_index, and set its lists, batches, listed pairs or exclusions, whose indices count the j of the part. All
 * reductions continue from run to run; only the run of the last part applies finish() and writes the outputs (option
 * accumulate: combines them). All parts must have the same chosen i, with the same inputs and params. A part may have
 * no j. Any other run, or a part that fails, ends the sum and discards its partial results. Each part may use another
 * pair method. */
typedef enum nbcc_part { NBCC_WHOLE = 0, NBCC_FIRST_PART = 1, NBCC_NEXT_PART = 2, NBCC_LAST_PART = 3 } nbcc_part;

typedef struct nbcc_run_options {
  size_t size;
  int64_t i_begin, i_count; /* a range of i; i_count < 0 means all from i_begin on */
  const int64_t* i_list;    /* or i_count indices, in any order, each at most once, else NBCC_ERROR_USAGE; null: the
                               range. On a GPU the list may be on the device; it is then not checked */
  int accumulate; /* 0: outputs are overwritten; 1: results are combined with the values in the outputs by the output's
                     reduction (not for argmin, argmax, at and softmax) */
  void* stream; /* GPU: a CUstream or cudaStream_t of its primary context; null: the legacy default stream, which waits
                   for earlier work in other (blocking) streams */
  nbcc_part part; /* for a sum over the j in several runs */
  int clamp;      /* 0: an index outside of its table is NBCC_ERROR_USAGE; 1: it is clamped to the nearest end */
} nbcc_run_options;

/* A callback that is called every 50 ms while a function works on a sum. `done`: the fraction of the work that is done,
 * from 0 to 1, never falling; 0 if it is not known (a search on a GPU), 1 while nbcc_sum_wait waits. Result 0:
 * continue; any other: interrupt. */
typedef int (*nbcc_progress)(void* data, double done);

/* Sets the callback of later calls of nbcc_sum_run, nbcc_sum_find_neighbours and nbcc_sum_wait, and its first argument.
 * null (the default): none. The callback is called in the thread that has called the function, never in a thread of
 * nbcc, and must not use this sum. If it asks for an interrupt, the function returns NBCC_INTERRUPTED, within a tenth
 * of a second on a CPU; all threads of the run have then ended.
 *
 * After an interrupted run over all pairs each i has in the outputs either its new result or its old value; which is
 * not reported. Totals have their old values. After an interrupted run over neighbours, lists, batches that are not
 * searched or listed pairs on a CPU, and after a run on a GPU with all arrays on the host, all outputs have their old
 * values. Later runs of the sum are not affected; a sum in parts must begin again.
 *
 * On a GPU a launch cannot be interrupted. With a callback launches of more than 0.2 s are split by ranges of i, which
 * changes no bit of the results, and a run returns only when the remaining work takes 0.2 s; searches, sums over some
 * 10^7 j and captured runs are not split. If nbcc_sum_wait is interrupted the work continues, and uses its arrays until
 * a later nbcc_sum_wait has returned NBCC_OK. The callback is not called while a run is captured into a graph. */
NBCC_API nbcc_status nbcc_sum_set_progress(nbcc_sum* sum, nbcc_progress progress, void* data, nbcc_error** error);

/* Sums over all j for the chosen i. options may be null: all i, outputs overwritten.
 *
 * On failure no output has been written, with two exceptions: a result at a limit of an int32 array is found after it
 * has been written, and a GPU that fails while it stores results on the device may have stored some of them. Wrong
 * arguments, missing memory and kernels that do not compile or load are detected before. Outputs on the host are
 * written last; after a failure of the device they have their old values. If the GPU's memory forces a run from device
 * arrays to be split by ranges of i, each range is stored when it is summed, and the GPU may fail in a later range.
 * Batches that are searched are stored one by one. If some arrays are on the host, one launch stores all on the device.
 *
 * On a GPU a run whose arrays are all on the device returns when its work is in the stream. The outputs are complete
 * when the stream has done this work, or nbcc_sum_wait returns; nbcc_sum_wait, or any call that waits for the stream,
 * reports a failure of the work. A run with an array on the host returns when all of its work is done, in any stream,
 * including outputs on the device. Runs of one sum in different streams are executed sequentially. A stream capture
 * accepts only runs from arrays on the device, of a size that has been run before; the graph uses the sum's working
 * memory, so the sum must outlive the graph and must not run while the graph does. */
NBCC_API nbcc_status nbcc_sum_run(nbcc_sum* sum, const nbcc_run_options* options, nbcc_error** error);
/* Returns when the work of all runs of this sum is done. */
NBCC_API nbcc_status nbcc_sum_wait(nbcc_sum* sum, nbcc_error** error);

#ifdef __cplusplus
}
#endif

#include "runtime/api/nbcc_pair_lists.h" /* nbcc_pair_search: pairs within a cutoff, without a pipeline */
#include "runtime/api/nbcc_statistics.h" /* nbcc_statistics, nbcc_sum_set_tolerance */
#endif
