/* The interface between libraries made by `nbcc compile` and libnbcc_runtime. Programs do not need it: they include the
 * library's own header, which has a typed function for each pipeline.
 * Tested by tests/unit/runtime/image/image_test.cpp and tests/library. */
#ifndef NBCC_IMAGE_H
#define NBCC_IMAGE_H
#include "runtime/api/nbcc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A CPU kernel: the functions of compiler/kernel_source.h, which only the runtime calls. locate_i to interact_numbered
 * are null if no cutoff is proved; the indices_* functions are null if no table index is checked; lists_numbered and
 * lists_excluding are the kernel's functions for lists, without and with exclusions. */
typedef void (*nbcc_image_function)(void);
typedef struct nbcc_image_kernel {
  const char* isa; /* "avx2" */
  nbcc_image_function prepare_i, prepare_j, interact, finish;
  nbcc_image_function locate_i, locate_j, extent, within, interact_numbered;
  nbcc_image_function indices_i, indices_j, indices_pair;
  nbcc_image_function lists_numbered, lists_excluding;
} nbcc_image_kernel;

/* The code of one variant of a kernel that is derived from the pipeline. */
#define NBCC_IMAGE_FUNCTIONS 20
typedef struct nbcc_image_code {
  const char* isa;    /* "avx2" */
  const char* source; /* KernelVariant::source in the description: a hash, in hexadecimal digits */
  nbcc_image_function functions[NBCC_IMAGE_FUNCTIONS]; /* of runtime/cpu/cpu_functions.h, in their order */
} nbcc_image_code;

/* A pipeline. Valid while the library is loaded; the library must stay loaded while objects made from it are used. */
typedef struct nbcc_image {
  size_t size;             /* sizeof(nbcc_image), so that later versions may append members */
  const void* description; /* bytes written by write_image(), runtime/image/image.h */
  size_t description_size;
  const nbcc_image_kernel* kernels; /* the best instruction set first */
  int kernel_count;
  void** calls; /* points to a null pointer at first; nbcc_image_run keeps its state there between calls */
  const nbcc_image_code* codes; /* null: there are none */
  int code_count;
} nbcc_image;

/* Loads the pipeline on a device, no matter which library opened the device. On a CPU: the kernel for the best
 * instruction set that the image holds and the device supports. On a GPU: the code for its architecture or the nearest
 * lower one of the same major version, else PTX that the driver translates, else the source compiled by NVRTC. */
NBCC_API nbcc_status nbcc_pipeline_from_image(nbcc_device* device, const nbcc_image* image, nbcc_pipeline** pipeline,
                                              nbcc_error** error);

/* Below, `arrays` has an entry for each field in order of declaration. Input or output: an array [particle][component]
 * of element type `real` (NBCC_FLOAT or NBCC_DOUBLE_ELEMENT); int and bool fields are NBCC_INT32, index fields and
 * outputs that are an argmin or argmax are NBCC_INT64. Param: its components as doubles. Null: the caller does not want
 * the output. The functions ..._pairs are for pipelines with inputs or results of pairs, whose arrays have a row for
 * each of the `pairs` listed pairs; first[ni + 1] and j[pairs] are those of nbcc_sum_set_listed_pairs(). */

/* Binds every field of a sum. */
NBCC_API nbcc_status nbcc_sum_bind_arrays(nbcc_sum* sum, nbcc_element real, int64_t ni, int64_t nj,
                                          const void* const* arrays, nbcc_error** error);
/* The same, and lists the pairs. `first` and `j` null: the pairs that were listed before remain. `first` null and
 * `j` not: NBCC_ERROR_USAGE. */
NBCC_API nbcc_status nbcc_sum_bind_pairs(nbcc_sum* sum, nbcc_element real, int64_t ni, int64_t nj, const int64_t* first,
                                         int64_t pairs, const int64_t* j, const void* const* arrays,
                                         nbcc_error** error);
/* Sums on the device that the environment variable NBCC_DEVICE names ("cuda", "cuda:1", ...), else on all CPU cores.
 * The first call makes threads or a GPU context, which exist until the process ends; so does working memory, one set
 * for each concurrent call. nbcc_last_error() describes a failure. `first` may be null if ni is 0. */
NBCC_API nbcc_status nbcc_image_run(const nbcc_image* image, nbcc_element real, int64_t ni, int64_t nj,
                                    const void* const* arrays);
NBCC_API nbcc_status nbcc_image_run_pairs(const nbcc_image* image, nbcc_element real, int64_t ni, int64_t nj,
                                          const int64_t* first, int64_t pairs, const int64_t* j,
                                          const void* const* arrays);

#ifdef __cplusplus
}
#endif
#endif
