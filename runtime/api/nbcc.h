/* nbcc's C interface: load a pipeline, bind particle arrays, sum over j for every i.
 *
 * Handles are opaque. A function that can fail returns an nbcc_status and, where its last argument is not null,
 * an nbcc_error that tells why; free it with nbcc_error_free. Different handles may be used from different threads at
 * once, one nbcc_sum from one thread at a time. There is no global state but that of compiled pipelines' functions
 * without a handle: one device for all of them, and nbcc_last_error. Nothing prints, nothing exits.
 *
 * Strings are UTF-8 and zero-terminated; those returned belong to the handle they were asked of.
 * Functions marked [jit] are in libnbcc_jit, all others in libnbcc_runtime. */
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
  NBCC_INTERRUPTED = 4,     /* the progress callback has asked for the end: nbcc_sum_set_progress */
  NBCC_ERROR_INTERNAL = 101 /* a bug in nbcc; please report the message */
} nbcc_status;

typedef struct nbcc_error nbcc_error;
NBCC_API const char* nbcc_error_message(const nbcc_error* error); /* "" for a null pointer */
NBCC_API nbcc_status nbcc_error_status(const nbcc_error* error);
NBCC_API void nbcc_error_free(nbcc_error* error); /* null is fine */
/* Puts an error where `error` is not null, for libraries that stand on this one, and returns the status. */
NBCC_API nbcc_status nbcc_error_make(nbcc_error** error, nbcc_status status, const char* message);

/* What went wrong in this thread's last failure of a function that has no nbcc_error** to tell it by, as those of
 * compiled pipelines; "" if there was none. Belongs to the thread, until its next failure. */
NBCC_API const char* nbcc_last_error(void);
/* What this thread's last run of a compiled pipeline's typed function warns of, as nbcc_sum_warning says, a line each;
 * "" for nothing. Belongs to the thread, until its next such run. */
NBCC_API const char* nbcc_last_warning(void);

NBCC_API const char* nbcc_version(void); /* of the library, as "0.1.0" */

/* ---- devices ------------------------------------------------------------------------------------------- */

typedef struct nbcc_device nbcc_device;

typedef struct nbcc_device_options {
  size_t size;           /* sizeof(nbcc_device_options), so that the struct may grow */
  int threads;           /* CPU: threads to use; 0 means all cores that this process may run on */
  const char* isa;       /* CPU: "sse2", "avx2", "avx512"; null means the best that this machine has */
  const char* cache_dir; /* compiled kernels; null means $NBCC_CACHE_DIR, $XDG_CACHE_HOME/nbcc or ~/.cache/nbcc; ""
                            means none */
  const char* dump_dir;  /* every stage is written here; null means $NBCC_DUMP, "" none */
} nbcc_device_options;

/* name: "cpu", or a CUDA GPU: "cuda:0", "cuda:1", ..., "cuda" for the first; or several GPUs of one model as one
 * device: "cuda:0,2", "cuda:all", with the same results bit for bit as on one of them. Each GPU is used through its
 * primary context, as programs of the CUDA runtime use it; the caller's current context is left as it was. options may
 * be null.
 */
NBCC_API nbcc_status nbcc_device_open(const char* name, const nbcc_device_options* options, nbcc_device** device,
                                      nbcc_error** error);
NBCC_API void nbcc_device_close(nbcc_device* device); /* pipelines opened on it stay valid */
NBCC_API const char* nbcc_device_name(
    const nbcc_device* device); /* e.g. "cpu, avx2, 2 threads", "cuda:0, NVIDIA H200, sm_90" */
/* How many GPUs the CUDA driver shows. Where there is none the status is NBCC_ERROR_DEVICE, the error tells why. */
NBCC_API nbcc_status nbcc_cuda_count(int* count, nbcc_error** error);

/* Memory of the device, for arrays that runs read and write where they are; on the CPU it is the host's. Aligned to 64
 * bytes at least, its contents are not set; of 0 bytes it is not null either. The device must be open still when it is
 * freed, and no run may use it any more. Null is fine. */
NBCC_API nbcc_status nbcc_device_allocate(nbcc_device* device, size_t bytes, void** memory, nbcc_error** error);
/* Memory of the host in which a GPU reads and writes arrays, and lists of i, over the bus, where they are: for the few
 * numbers that both want after every run, without a copy. It counts as the device's. The host sees what a run has
 * written when it has waited for it, and may write what the next run reads then. On the CPU as nbcc_device_allocate. */
NBCC_API nbcc_status nbcc_device_allocate_shared(nbcc_device* device, size_t bytes, void** memory, nbcc_error** error);
NBCC_API void nbcc_device_free(nbcc_device* device, void* memory); /* of either kind */
/* Copies between the host and such memory, or any other of this GPU. They begin when what the legacy default stream was
 * given before is done, and return when they are done. */
NBCC_API nbcc_status nbcc_device_write(nbcc_device* device, void* to, const void* from_host, size_t bytes,
                                       nbcc_error** error);
NBCC_API nbcc_status nbcc_device_read(nbcc_device* device, void* to_host, const void* from, size_t bytes,
                                      nbcc_error** error);

/* Whether an address is in memory of the device, of either kind, and not in the host's own; on the CPU it never is. */
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
/* The pairs that can contribute, as the guards of the text prove it: "|xj - xi| < rc in the periodic box `box`". Empty
   where nothing is proved; then `nbcc_pipeline_no_neighbours` says why, if a guard looks like a cutoff. */
NBCC_API const char* nbcc_pipeline_neighbours(const nbcc_pipeline* pipeline);
NBCC_API const char* nbcc_pipeline_no_neighbours(const nbcc_pipeline* pipeline);

typedef enum nbcc_role {
  NBCC_INPUT_I = 0,
  NBCC_INPUT_J = 1,
  NBCC_PARAM = 2,
  NBCC_OUTPUT = 3,
  NBCC_INPUT_PAIR = 4 /* one row for each listed pair: nbcc_sum_set_listed_pairs */
} nbcc_role;
typedef enum nbcc_reduction {
  NBCC_SUM = 0,
  NBCC_MIN = 1,
  NBCC_MAX = 2,
  NBCC_ARGMIN = 3,
  NBCC_ARGMAX = 4,
  NBCC_LOGSUMEXP = 5,
  NBCC_SOFTMAX = 6,
  NBCC_PRODUCT = 7,
  NBCC_COUNT = 8,
  NBCC_AT = 9 /* what goes along with the choice of an argmin or argmax */
} nbcc_reduction;

typedef struct nbcc_field {
  const char* name;
  nbcc_role role;
  const char* type;         /* as declared: "real", "vec3", "int", "float[4]" */
  const char* comment;      /* what stands behind the declaration, or "" */
  int components;           /* numbers per particle */
  int integral;             /* 1: int, index or bool, or an argmin/argmax output */
  nbcc_reduction reduction; /* of an output */
  int default_count;        /* of a param: 0 or `components` */
  const double* defaults;
} nbcc_field;

NBCC_API int nbcc_pipeline_field_count(const nbcc_pipeline* pipeline);
/* Field k in order of declaration; 0 on success, -1 when there is none. */
NBCC_API int nbcc_pipeline_field(const nbcc_pipeline* pipeline, int k, nbcc_field* field);

/* ---- texts ---------------------------------------------------------------------------------------------- */

/* What nbcc has to say about a pipeline's text, without a device: a text, and what is wrong in the pipeline's. */
typedef struct nbcc_report nbcc_report;

typedef enum nbcc_severity { NBCC_SEVERITY_NOTE = 0, NBCC_SEVERITY_WARNING = 1, NBCC_SEVERITY_ERROR = 2 } nbcc_severity;

typedef struct nbcc_diagnostic {
  nbcc_severity severity;
  int line, column;     /* in the pipeline's text, from 1 (columns in bytes); 0: the text as a whole */
  const char* message;  /* "use of undeclared identifier 'r3'" */
  const char* rendered; /* as it is printed: file:line:column: error: message, the source line, a caret */
} nbcc_diagnostic;

/* Errors and warnings of a text; the report's text is all of them, rendered. With errors the status is NBCC_ERROR_INPUT
 * and there is a report all the same. */
NBCC_API nbcc_status nbcc_check_text(const char* text, const char* name, nbcc_report** report,
                                     nbcc_error** error); /* [jit] */
/* A stage of the text's way to a kernel: "ir", "optimized" (for the CPU), "cpu", "asm", "cuda", "cuda-search",
 * "cuda-lists", "cuda-pairs". isa: null means the best that this machine has. options may be null. The diagnostics are
 * the warnings. */
NBCC_API nbcc_status nbcc_emit_text(const char* text, const char* name, const char* stage,
                                    const nbcc_pipeline_options* options, const char* isa, nbcc_report** report,
                                    nbcc_error** error); /* [jit] */
/* Derivatives. Let L be any number made of a pipeline's outputs, and d_X stand for dL/dX. Of whom the derivatives are:
 */
typedef enum nbcc_adjoint_side {
  NBCC_ADJOINT_I = 0,       /* of inputs of i and of params (of these for each i its part, to be added up) */
  NBCC_ADJOINT_J = 1,       /* of inputs of j: what was j is i in the new pipeline, and what was i is j */
  NBCC_ADJOINT_ONE_SET = 2, /* of inputs of both, where i and j are the same particles in the same order: one sum. xi
                               and xj, which differ in their last letter, are one; other fields are known to both sides,
                               as NAME_i or NAME_j to the other */
  NBCC_ADJOINT_FORWARD = 3  /* no derivative: the pipeline with the outputs besides that its adjoints take as inputs */
} nbcc_adjoint_side;
/* The text of a pipeline whose outputs are the d_X. It takes the inputs of the first one, and for each of its i besides
 * d_NAME of the outputs; where derivatives need it raw_NAME, an output before finish() (without finish() the output
 * itself), at_NAME, the j_index of a minimum or maximum, and z_NAME, of a softmax the logarithm of the weights' sum.
 * Names differ where the first pipeline has a field of that name; nbcc_report_adjoint_field tells what each field is.
 * of, by: the names of the outputs that L depends on (those that the forward pipeline has besides, too) and of what it
 * is differentiated by, separated by commas; null: all real numbers. What has no derivative is NBCC_ERROR_USAGE. The
 * diagnostics are the warnings of the text. */
NBCC_API nbcc_status nbcc_adjoint_text(const char* text, const char* name, nbcc_adjoint_side side, const char* of,
                                       const char* by, nbcc_report** report, nbcc_error** error); /* [jit] */
/* The pipeline with the virial of a force besides: an output FORCE_virial of six numbers, half of (x_i - x_j)_a f_b
 * summed over the j of each i, for ab = xx, yy, zz, xy, xz, yz, where f is what a pair adds to the force on i. The sum
 * over all i is that over pairs where each is seen from both ends with opposite forces. force: an output(sum) of type
 * vec3 that finish() leaves alone; place_i, place_j: inputs of type vec3, of which the difference is taken as the
 * force is made of it: in a periodic box or cell its nearest image. NBCC_ERROR_USAGE for what has none, and where the
 * text takes images of the difference that are not known as nearest ones. The diagnostics are the warnings of the text.
 */
NBCC_API nbcc_status nbcc_virial_text(const char* text, const char* name, const char* force, const char* place_i,
                                      const char* place_j, nbcc_report** report, nbcc_error** error); /* [jit] */
NBCC_API const char* nbcc_report_text(const nbcc_report* report);     /* [jit] "" for a null pointer */
NBCC_API int nbcc_report_diagnostic_count(const nbcc_report* report); /* [jit] */
/* Diagnostic k in the order of the text; 0 on success, -1 when there is none. */
NBCC_API int nbcc_report_diagnostic(const nbcc_report* report, int k, nbcc_diagnostic* diagnostic); /* [jit] */
/* What a field of an adjoint pipeline holds; `of` is a field of the first pipeline, or an output of the forward one. */
typedef enum nbcc_adjoint_meaning {
  NBCC_ADJOINT_VALUE = 0,     /* the field `of` of the first pipeline itself */
  NBCC_ADJOINT_GIVEN = 1,     /* an input: dL/d of the output `of`, one row for each i of the first pipeline */
  NBCC_ADJOINT_SAVED = 2,     /* an input: the output `of` of the forward pipeline, of which it is an output */
  NBCC_ADJOINT_DERIVATIVE = 3 /* an output: dL/d of the input or param `of` */
} nbcc_adjoint_meaning;
typedef struct nbcc_adjoint_field {
  const char* name; /* as the text declares it */
  nbcc_adjoint_meaning meaning;
  const char* of;
  const char* partner; /* of an input NBCC_ADJOINT_VALUE: the input of the first pipeline's other side that is the same
                          array where i and j are one set; "": there is none */
} nbcc_adjoint_field;
NBCC_API int nbcc_report_adjoint_field_count(const nbcc_report* report); /* [jit] 0: not a report on an adjoint */
/* Field k in the order of the text; 0 on success, -1 when there is none. The strings belong to the report. */
NBCC_API int nbcc_report_adjoint_field(const nbcc_report* report, int k, nbcc_adjoint_field* field); /* [jit] */
NBCC_API void nbcc_report_free(nbcc_report* report); /* [jit] null is fine */

/* ---- sums ---------------------------------------------------------------------------------------------- */

typedef struct nbcc_sum nbcc_sum;

typedef enum nbcc_element { NBCC_FLOAT = 0, NBCC_DOUBLE_ELEMENT = 1, NBCC_INT32 = 2, NBCC_INT64 = 3 } nbcc_element;

/* count particles; component c of particle k is at data + k * stride + c * component_stride (bytes; may be
 * negative). Structure of arrays and array of structures are both just strides. The memory stays the caller's
 * and must outlive the runs that use it.
 *
 * On a GPU each array may be in memory of the host, or of this GPU, or managed; which it is, nbcc finds out when it is
 * bound. Arrays on the device are read and written where they are, and must be aligned to their elements. */
typedef struct nbcc_view {
  void* data;
  nbcc_element element;
  int64_t count;
  int64_t stride;
  int64_t component_stride;
} nbcc_view;

NBCC_API nbcc_status nbcc_sum_create(nbcc_pipeline* pipeline, nbcc_sum** sum, nbcc_error** error);
NBCC_API void nbcc_sum_destroy(nbcc_sum* sum);

/* count values of a param (its number of components). */
NBCC_API nbcc_status nbcc_sum_set_param(nbcc_sum* sum, const char* name, const double* values, int count,
                                        nbcc_error** error);
/* An input or output array. All i-fields (inputs and outputs) have one count, all j-fields have one. Inputs are only
 * read. */
NBCC_API nbcc_status nbcc_sum_bind(nbcc_sum* sum, const char* name, const nbcc_view* view, nbcc_error** error);
/* An output that is not wanted: it is not written and may be left unbound by this. */
NBCC_API nbcc_status nbcc_sum_ignore(nbcc_sum* sum, const char* name, nbcc_error** error);
/* What is added to i_index and j_index, when a set is a part of a larger one. */
NBCC_API nbcc_status nbcc_sum_set_offsets(nbcc_sum* sum, int64_t i_offset, int64_t j_offset, nbcc_error** error);
/* The number of particles, for a side whose fields are all absent from the pipeline (else it follows from the views).
 */
NBCC_API nbcc_status nbcc_sum_set_counts(nbcc_sum* sum, int64_t ni, int64_t nj, nbcc_error** error);
/* Field k of the sum's pipeline, as nbcc_pipeline_field tells it. Its strings belong to the sum. */
NBCC_API int nbcc_sum_field(const nbcc_sum* sum, int k, nbcc_field* field);
/* What is bound to an input or output, all zeros for one that is ignored or not bound; and the numbers of particles
 * that a run would have, where all fields are bound that it needs. For libraries that run sums of others. */
NBCC_API nbcc_status nbcc_sum_get_view(nbcc_sum* sum, const char* name, nbcc_view* view, nbcc_error** error);
NBCC_API nbcc_status nbcc_sum_get_counts(nbcc_sum* sum, int64_t* ni, int64_t* nj, nbcc_error** error);
/* keep != 0: the j-particles are read and packed at the next run and then stay resident until they are bound
 * again or nbcc_sum_j_changed is called. 0 (the start): every run reads them again. Arrays on a GPU are read where they
 * are by every run. */
NBCC_API nbcc_status nbcc_sum_keep_j(nbcc_sum* sum, int keep, nbcc_error** error);
NBCC_API nbcc_status nbcc_sum_j_changed(nbcc_sum* sum, nbcc_error** error);

/* Which pairs the runs from now on compute. NBCC_PAIRS_AUTO, as at first: those within the reach that is proved of the
 * pipeline's guards (nbcc_pipeline_neighbours), where a search for them is likely to be faster; the results are those
 * of all pairs, but for the order in which terms are added. NBCC_PAIRS_CUTOFF: them in any case; NBCC_ERROR_USAGE where
 * nothing is proved. NBCC_PAIRS_AUTO goes by this: on the CPU, where ni * nj > 1500 ni + 500 nj (2000 of each), by an
 * estimate of the cost from pairs that it draws; a box with a length of 0 is summed over all pairs. On a GPU it
 * searches from about a million pairs for each multiprocessor on (11,500 particles on one with 132), unless reach and
 * box are made of params and numbers and more than a tenth of the box is within reach, or the launch configuration is
 * the caller's. */
typedef enum nbcc_pairs { NBCC_PAIRS_AUTO = 0, NBCC_PAIRS_ALL = 1, NBCC_PAIRS_CUTOFF = 2 } nbcc_pairs;
NBCC_API nbcc_status nbcc_sum_set_pairs(nbcc_sum* sum, nbcc_pairs pairs, nbcc_error** error);

/* What a search has found is kept from run to run until a particle has moved by half of `skin`, or the box, a reach or
 * the number of particles has changed: for particles that move a little between runs. In the unit of positions; 0, as
 * at first: every run searches. NBCC_ERROR_USAGE where nothing is proved. */
NBCC_API nbcc_status nbcc_sum_set_skin(nbcc_sum* sum, double skin, nbcc_error** error);

/* Lists of the caller: groups of i, each with ranges of j that act on it. For tree codes, domains and all who know
 * which particles are near each other. All numbers are positions; `i_order` and `j_order` tell which particle stands at
 * one. Every i is in one group. Groups and ranges may be empty and in any order; of ranges that overlap j act as often
 * as they are named. Each array may be on the host or on the device of the sum. */
typedef struct nbcc_lists {
  size_t size;            /* sizeof(nbcc_lists) */
  int64_t groups, ranges; /* how many there are */
  const int64_t* i_first; /* [groups + 1], rising from 0: group g has the positions i_first[g] to before i_first[g+1] */
  const int64_t* i_order; /* [i_first[groups]]; null: the particle at a position is that of this number */
  const int64_t* range_first; /* [groups + 1], rising from 0 to `ranges`: the ranges of a group */
  const int64_t* j_begin;     /* [ranges]: the first position of a range ... */
  const int64_t* j_end;       /* [ranges]: ... and that behind its last */
  const int64_t* j_order;     /* [j_count]; null: as i_order */
  int64_t j_count;
  const double* shifts; /* [ranges][axes]: what is added to the places of a range's j, in their unit; null: nothing. For
                           pipelines of which nbcc_pipeline_neighbours tells which inputs of j are places */
  int axes;             /* of a shift: as many as places have */
} nbcc_lists;

/* The runs from now on are over the pairs of these lists; under NBCC_PAIRS_CUTOFF they are refused. With one range of
 * all j for each group they give what all pairs give, but for the order in which terms are added. `lists` null: no
 * more. Everything is copied and checked: NBCC_ERROR_USAGE names the entry, what it is and what it may be; whether
 * there are so many particles each run checks. What is refused leaves things as they were. Runs are of all i then. */
NBCC_API nbcc_status nbcc_sum_set_lists(nbcc_sum* sum, const nbcc_lists* lists, nbcc_error** error);

/* Many independent systems in one run: on an i act the j of the same batch. `i_batch` and `j_batch` are the ids of all
 * particles, from 0 to before `batches`, in rising order; what they cost goes by the particles, not by `batches`.
 * i_index, j_index and chosen indices count all particles, not those of a batch. Takes the place of lists. `batches` =
 * 0 and no ids: no more. Behind a proved cutoff a large batch is summed by a search of its own, and every batch under
 * NBCC_PAIRS_CUTOFF, which is refused where an output is in the memory of an input. Such runs cannot be captured, count
 * as one for each of these batches in the statistics, and may have stored some batches when memory for another is
 * lacking. */
NBCC_API nbcc_status nbcc_sum_set_batches(nbcc_sum* sum, int64_t batches, int64_t ni, const int64_t* i_batch,
                                          int64_t nj, const int64_t* j_batch, nbcc_error** error);
/* Values of a param for each batch, or each group of the lists: `count` is their number times the param's components,
 * one batch after the other. nbcc_sum_set_param, and other batches or lists, end it. */
NBCC_API nbcc_status nbcc_sum_set_batch_param(nbcc_sum* sum, const char* name, const double* values, int64_t count,
                                              nbcc_error** error);

/* The pairs one by one, for each i those j that act on it: j[first[i]] to before j[first[i + 1]], `first` rising from 0
 * to `count`, in any order and as often as they are named. Inputs of pairs (input_pair) have a row for each entry of j.
 * A pipeline with such inputs runs over listed pairs only. Takes the place of lists. `first` null: no more. */
NBCC_API nbcc_status nbcc_sum_set_listed_pairs(nbcc_sum* sum, int64_t ni, const int64_t* first, int64_t count,
                                               const int64_t* j, nbcc_error** error);
/* Pairs that do not act, in the same form: a bond's, say. Runs over all pairs, a search, lists and batches leave them
 * out before anything is computed of them; with listed pairs they are NBCC_ERROR_USAGE. `first` null: no more. */
NBCC_API nbcc_status nbcc_sum_set_exclusions(nbcc_sum* sum, int64_t ni, const int64_t* first, int64_t count,
                                             const int64_t* j, nbcc_error** error);

/* Nonzero if lists, batches, listed pairs or exclusions are set. */
NBCC_API int nbcc_sum_has_lists(const nbcc_sum* sum);

/* What was done since the sum was made, in those of its runs that summed over neighbours, and the method of the last
 * run. The seconds are the clock's, not the threads'. */
typedef struct nbcc_statistics {
  size_t size;           /* sizeof(nbcc_statistics), the caller's to set */
  int64_t pairs_tested;  /* by the kernel, against the cutoff */
  int64_t searches;      /* those of the runs that had kept nothing that holds */
  int64_t runs;          /* all of them */
  int64_t pairs_within;  /* the proved reach, in the last run: counted by the call that asks, which takes
                            longer than a run; 0 if that run was over all pairs */
  double seconds_locate; /* to pack particles and find their places */
  double seconds_sort;   /* to sort them */
  double seconds_lists;  /* to find what is near each group of i, and put it side by side */
  double seconds_sums;   /* to sum over that */
  const char* method;    /* how the last run chose its pairs: "all pairs", "search", "lists", "listed pairs", "batches",
                            "nearest"; "" before the first run. Valid until the next call for this sum */
  const char* reason;    /* why: what was asked for, or the estimated cost of each method that could do the run, in
                            pairs of a sum over all pairs, and the obstacles of the others */
} nbcc_statistics;
NBCC_API nbcc_status nbcc_sum_get_statistics(const nbcc_sum* sum, nbcc_statistics* statistics, nbcc_error** error);

/* The neighbours themselves: the pairs that pass the guards' comparisons of distances, in the arithmetic of the sums, a
 * particle and itself among them where both sides are one set, but for exclusions; of an i the j from j[first[i]] to
 * before j[first[i + 1]], in rising order. `shifts` has `axes` numbers for each pair: what is added to the place of j
 * to be at that copy of it, in a periodic box, which is nearest to i. nbcc_sum_set_lists and nbcc_sum_set_listed_pairs
 * take them as they are. */
typedef struct nbcc_neighbour_list {
  size_t size;          /* sizeof(nbcc_neighbour_list), the caller's to set */
  int64_t ni, count;    /* the numbers of i and of pairs */
  int axes;             /* of a place */
  const int64_t* first; /* [ni + 1] */
  const int64_t* j;     /* [count] */
  const double* shifts; /* [count][axes] */
  void* owner;          /* of the arrays */
} nbcc_neighbour_list;

/* Fills `found` for all i, from the arrays as they are now; free it with nbcc_neighbour_list_free. NBCC_ERROR_USAGE
 * where nothing is proved, and on GPUs. */
NBCC_API nbcc_status nbcc_sum_find_neighbours(nbcc_sum* sum, nbcc_neighbour_list* found, nbcc_error** error);
NBCC_API void nbcc_neighbour_list_free(nbcc_neighbour_list* found); /* null is fine */

/* The k-th warning of the sum's last run or search for neighbours, from 0 on: a sentence that says in what its results
 * are not what one may expect, such as a cutoff beyond half of the periodic box. Null beyond the last one. A warning
 * that holds in the next run as well is the same string, with the numbers of the run that had it first, so that a
 * program need show only those that are new. Valid until the sum's next run. */
NBCC_API const char* nbcc_sum_warning(const nbcc_sum* sum, int k);

/* The launch configuration of a GPU kernel. 0: nbcc chooses the number for the number of particles, by measurements of
 * `nbcc tune`, or by its model of the GPU where nothing was measured. */
typedef struct nbcc_launch_configuration {
  size_t size;
  int threads;      /* threads of a block */
  int i_per_thread; /* i-particles that a thread holds in registers */
  int j_tile;       /* j-particles staged in shared memory at a time */
  int unroll;       /* iterations of the pair loop written out, a power of two */
  int j_slices;     /* threads of a block that share i-particles; each sums over one slice of the j-particles */
  int j_splits;     /* blocks that share i-particles; each sums over one split of the j-particles */
} nbcc_launch_configuration;

/* Sets the launch configuration of later runs. A run compiles its kernel if it was not compiled with this configuration
 * before. Null, the initial state: nbcc chooses. The last bits of results depend on the configuration. If this pipeline
 * cannot be compiled with it, the run and nbcc_sum_get_launch_configuration fail with NBCC_ERROR_USAGE. No effect on the
 * CPU. */
NBCC_API nbcc_status nbcc_sum_set_launch_configuration(nbcc_sum* sum, const nbcc_launch_configuration* configuration,
                                                       nbcc_error** error);
/* Gets the launch configuration of a run over nj j-particles for ni i-particles whose arrays are on the device, and
 * compiles the kernel if need be. The caller sets configuration->size. All numbers are 0 on the CPU. */
NBCC_API nbcc_status nbcc_sum_get_launch_configuration(nbcc_sum* sum, int64_t ni, int64_t nj,
                                                       nbcc_launch_configuration* configuration, nbcc_error** error);

/* Deprecated names of the same: lanes are j_slices, parts are j_splits. */
typedef struct nbcc_cuda_shape {
  size_t size;
  int threads, i_per_thread, j_tile, unroll, lanes, parts;
} nbcc_cuda_shape;
NBCC_API nbcc_status nbcc_sum_set_cuda_shape(nbcc_sum* sum, const nbcc_cuda_shape* shape, nbcc_error** error);
NBCC_API nbcc_status nbcc_sum_get_cuda_shape(nbcc_sum* sum, int64_t ni, int64_t nj, nbcc_cuda_shape* shape,
                                             nbcc_error** error);

/* Which part of a sum a run is. NBCC_WHOLE, as at first: all of it. Where the j come in parts, as in many processes or
 * where not all fit into memory at once, the runs from NBCC_FIRST_PART to NBCC_LAST_PART are one sum: bind the j of a
 * part, and set the offset that their j_index has, before its run. Every reduction goes on; finish() and the outputs
 * wait for the last part. Only the last run writes outputs, and accumulates onto them if it is told to. All parts must
 * have as many chosen i, the same ones, with the same inputs and params. A part may have no j. Another run, or a part
 * that fails, ends the sum, and what it had is lost. Each part may choose its pairs by another method. Lists, batches,
 * listed pairs and exclusions name the j of the part: set those of a part before its run. */
typedef enum nbcc_part { NBCC_WHOLE = 0, NBCC_FIRST_PART = 1, NBCC_NEXT_PART = 2, NBCC_LAST_PART = 3 } nbcc_part;

typedef struct nbcc_run_options {
  size_t size;
  int64_t i_begin, i_count; /* a range of i; i_count < 0 means all from i_begin on */
  const int64_t* i_list;    /* or i_count indices, in any order, each at most once, else NBCC_ERROR_USAGE; null: the
                               range. On a GPU the list may be on the device; it is then used as it is, unchecked */
  int accumulate; /* 0: outputs are overwritten; 1: combined with what they hold by the output's reduction (not for
                     argmin, argmax, at and softmax) */
  void* stream;   /* of a GPU: a CUstream or cudaStream_t of its primary context; null: the legacy default stream, which
                     waits for what other (blocking) streams were given before, so that arrays which the caller's kernels
                     have just written in the default stream are read when they are ready */
  nbcc_part part; /* of a sum whose j come in several runs */
  int clamp; /* 0: an index that leads out of a table is NBCC_ERROR_USAGE, see below; 1: it finds the nearest end */
} nbcc_run_options;

/* A callback that is called while a function works on a sum: at first when 50 ms have passed, and then every 50 ms. So
 * it is not called in short runs. `done`: the fraction of the work that is done, from 0 to 1, never falling; 0 where
 * that is not known (a search on a GPU), 1 while nbcc_sum_wait waits. Result 0: go on; any other: end. */
typedef int (*nbcc_progress)(void* data, double done);

/* The callback of nbcc_sum_run, nbcc_sum_find_neighbours and nbcc_sum_wait from now on, and its first argument. null,
 * as at first: none. It is called in the thread that has called the function, never in a thread of nbcc, and must not
 * use this sum. When it asks for the end the function returns NBCC_INTERRUPTED, within a tenth of a second on a CPU;
 * other threads of the run have then ended as well.
 *
 * After an interrupted run over all pairs each i has either its new result in the outputs or what was there before;
 * which, is not told. Over neighbours, lists, batches that are not searched and listed pairs on a CPU, and where all
 * arrays of a run on a GPU are on the host, all outputs are as they were. The next run of the sum is as any other; a
 * sum in parts begins anew.
 *
 * On a GPU, what has been launched cannot be called back. With a callback a launch that is predicted to take more than
 * 0.2 s is therefore cut by ranges of i, which changes no bit of the results, and a run launches no more than that
 * ahead: from arrays on the device, too, it returns when what is left takes 0.2 s. (Searches are not cut, nor are sums
 * over so many j, some 10^7, that a GPU which works on few i would be slow.) Where nbcc_sum_wait is interrupted the
 * work goes on, and uses its arrays until a later nbcc_sum_wait has returned NBCC_OK. A run that is captured into a
 * graph is not cut, and nobody is asked. */
NBCC_API nbcc_status nbcc_sum_set_progress(nbcc_sum* sum, nbcc_progress progress, void* data, nbcc_error** error);

/* Sums over all j for the chosen i. options may be null: all i, overwritten.
 *
 * On failure no output was written, with one exception: a GPU that fails while it stores results into arrays on the
 * device leaves some of them stored. All that can be refused is refused before: wrong arguments, missing memory, a
 * kernel that cannot be compiled or loaded. Outputs on the host are written last and are always as they were. Where the
 * GPU's memory makes a run from device arrays go in pieces of i, each piece is stored when it is summed; the GPU may
 * then fail in a later one. Batches that are searched are stored one by one, too. With arrays on the host as well, one
 * launch at the end stores all outputs on the device.
 *
 * On a GPU a run whose arrays are all on the device returns when its work is in the stream: the outputs are there when
 * the stream has come so far, or nbcc_sum_wait returns; a failure of the work is told by nbcc_sum_wait, or by whatever
 * waits for the stream. A run with an array of the host returns when all of its work is done, in whatever stream and
 * for outputs on either side. Runs of one sum in different streams do their work one after the other. A stream that is
 * captured into a graph takes runs from arrays on the device only, of a size that has been run before; the graph uses
 * the sum's working memory, so the sum must outlive it and must not run while it does. */
NBCC_API nbcc_status nbcc_sum_run(nbcc_sum* sum, const nbcc_run_options* options, nbcc_error** error);
/* Returns when the work of all runs of this sum is done. */
NBCC_API nbcc_status nbcc_sum_wait(nbcc_sum* sum, nbcc_error** error);

#ifdef __cplusplus
}
#endif
#endif
