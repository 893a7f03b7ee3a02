/* What libraries made by `nbcc compile` and libnbcc_runtime know of each other. Programs need none of it: they include
 * the library's own header, which has a typed function for each pipeline.
 * Tested by tests/unit/image_test.cpp and tests/library. */
#ifndef NBCC_IMAGE_H
#define NBCC_IMAGE_H
#include "runtime/api/nbcc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A CPU kernel: the functions of compiler/kernel_source.h, which the runtime alone calls. Those of the third line
 * are null where nothing is proved of neighbours, those of the fourth where no index of a table is checked; the last
 * two are of the text of lists. */
typedef void (*nbcc_image_function)(void);
typedef struct nbcc_image_kernel {
  const char* isa; /* "avx2" */
  nbcc_image_function prepare_i, prepare_j, interact, finish;
  nbcc_image_function locate_i, locate_j, extent, within, interact_numbered;
  nbcc_image_function indices_i, indices_j, indices_pair;
  nbcc_image_function lists_numbered, lists_but;
} nbcc_image_kernel;

/* A pipeline. Lives as long as the library is loaded, which must be as long as anything that was made of it is used. */
typedef struct nbcc_image {
  size_t size;             /* sizeof(nbcc_image), so that the struct may grow */
  const void* description; /* the bytes of runtime/image/image.h */
  size_t description_size;
  const nbcc_image_kernel* kernels; /* the best instruction set first */
  int kernel_count;
  void** calls; /* to a null pointer at first; what nbcc_image_run keeps from call to call */
} nbcc_image;

/* The pipeline on a device, whichever library opened that: the CPU's best instruction set of those that it holds; on a
 * GPU the code for its architecture or the nearest below it of the same generation, else PTX that the driver
 * translates, else the text by way of NVRTC. */
NBCC_API nbcc_status nbcc_pipeline_from_image(nbcc_device* device, const nbcc_image* image, nbcc_pipeline** pipeline,
                                              nbcc_error** error);

/* Below, `arrays` has an entry for each field in order of declaration. An input or output: rows of its components, one
 * after the other, of element type `real` (NBCC_FLOAT or NBCC_DOUBLE_ELEMENT); int and bool fields are NBCC_INT32,
 * index fields and outputs that are an argmin or argmax NBCC_INT64. A param: its components as doubles. A null pointer
 * is an output that is not wanted. */

/* Binds every field of a sum. */
NBCC_API nbcc_status nbcc_sum_bind_arrays(nbcc_sum* sum, nbcc_element real, int64_t ni, int64_t nj,
                                          const void* const* arrays, nbcc_error** error);
/* Sums on the device that NBCC_DEVICE of the environment names ("cuda", "cuda:1", ...), else on all cores of the CPU.
 * What this needs besides the arrays is made by the first call and kept until the process ends: threads or a GPU's
 * context, and working memory for as many calls as there were at once. Of a failure nbcc_last_error() tells. */
NBCC_API nbcc_status nbcc_image_run(const nbcc_image* image, nbcc_element real, int64_t ni, int64_t nj,
                                    const void* const* arrays);

#ifdef __cplusplus
}
#endif
#endif
