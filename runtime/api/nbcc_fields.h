/* Part of nbcc's C interface, included by nbcc.h: the fields of a pipeline. */
#ifndef NBCC_H
#error "include nbcc.h, which includes this file"
#endif
#ifndef NBCC_FIELDS_H
#define NBCC_FIELDS_H

#ifdef __cplusplus
extern "C" {
#endif

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
  NBCC_AT = 9 /* the payload of an argmin or argmax: a value of the chosen pair */
} nbcc_reduction;
/* The declared type of each number of a field; of vectors and complex numbers real. */
typedef enum nbcc_scalar {
  NBCC_SCALAR_REAL = 0,
  NBCC_SCALAR_FLOAT = 1,
  NBCC_SCALAR_DOUBLE = 2,
  NBCC_SCALAR_INT = 3,
  NBCC_SCALAR_INDEX = 4,
  NBCC_SCALAR_BOOL = 5
} nbcc_scalar;

typedef struct nbcc_field {
  const char* name;
  nbcc_role role;
  const char* type;         /* as declared: "real", "vec3", "complex", "int", "float[4]" */
  const char* comment;      /* the comment after the declaration, or "" */
  int components;           /* numbers per particle: those of an element times those of the array */
  int integral;             /* 1: int, index or bool, or an argmin/argmax output */
  nbcc_reduction reduction; /* outputs only */
  int default_count;        /* params: length of `defaults`, 0 or `components` */
  const double* defaults;
  int total, of_pair; /* 1: an output(total), one row for the run; an output(pair), one for each listed pair */
  nbcc_scalar scalar;
  int width;         /* numbers of an element: 1, of a vector 2 to 4, of a complex number 2 */
  int is_complex;    /* 1: an element is a real and an imaginary part */
  int rows, columns; /* type[rows][columns], type[rows] if columns is 0, no array if rows is 0 */
  int histogram;     /* 1: an output to one element of which each pair adds */
  int table;         /* 1: a param that is read at indices known only at run time */
  int is_read;       /* 0: no result depends on this input or param */
} nbcc_field;

NBCC_API int nbcc_pipeline_field_count(const nbcc_pipeline* pipeline);
/* Field k in order of declaration; 0 on success, -1 when there is none. */
NBCC_API int nbcc_pipeline_field(const nbcc_pipeline* pipeline, int k, nbcc_field* field);

/* How results depend on i_index and j_index, besides the indices that an argmin or argmax returns. */
typedef enum nbcc_index_use {
  NBCC_INDEX_UNUSED = 0,
  NBCC_INDEX_EQUAL = 1, /* only whether i_index and j_index are equal */
  NBCC_INDEX_VALUE = 2  /* also in other ways */
} nbcc_index_use;
NBCC_API nbcc_index_use nbcc_pipeline_index_use(const nbcc_pipeline* pipeline);

#ifdef __cplusplus
}
#endif
#endif
