// The packed vectors of kernels that multiply matrices (cuda_products.cu.in).
// Host and kernels share these declarations: the host includes this file, and the lines after "kernel source" are part
// of a kernel's source (declarations_of() in compiler/text/fill_template.h). Plain C++ without headers of the standard
// library, which NVRTC does not have. Pointers are addresses of GPU memory.
#pragma once

namespace nbcc::product_data {

// kernel source: products
// Of one packed vector: element k is `scale` times the sum of its stored parts.
struct RowFacts {
  float scale;  // a power of two
  float norm;   // sum of the squared elements, not rounded to half precision
};
// Vectors in half precision, as nbcc_pack writes them: rows[particle][part][element], facts[particle]. Kernels with an
// output array have values[particle][column], too: what the array's terms read of the particle.
struct PackedRows {
  unsigned short* rows;
  RowFacts* facts;
  float* values;
};
// The last argument of the kernels.
struct Products {
  PackedRows of_i;  // of the i of this launch
  PackedRows of_j;  // of the j of this launch
};
// end of kernel source

}  // namespace nbcc::product_data
