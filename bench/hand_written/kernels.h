// Kernels written by hand for single processors, against which the generated ones are measured: what the bench program
// sees of them. Every kernel exists once per instruction set (namespaces avx2, avx512 and neon), in several shapes
// each; which shape is fastest is left to a measurement, since it depends on the processor.
#pragma once
#include <cstdint>

namespace hand_written {

// Columns and params in the order in which the pipeline declares its components, in double precision.
struct Problem {
  std::int64_t ni, nj;     // nj: a multiple of kPadding
  const double* const* i;  // [component][particle]
  const double* const* j;
  const double* param;
  double* const* sum;  // [output component][particle], room for ni rounded up to a multiple of kPadding
};

// Particles are padded to a multiple of this.
constexpr std::int64_t kPadding = 64;

struct Kernel {
  const char* pipeline;      // whose sums it forms
  const char* shape;         // "2 vectors of i, broadcast j", ...
  bool in_double;            // working precision
  int i_numbers, j_numbers;  // per particle in the packed buffers
  // Conversion to the kernel's own layout and what depends on one particle alone; the buffers are 64-byte aligned and
  // have room for the padded number of particles in the working precision.
  void (*pack)(const Problem&, void* i, void* j);
  void (*run)(const Problem&, const void* i, const void* j);
  bool symmetric = false;  // i and j are one set, and each pair is computed once
};

struct Shapes {
  const Kernel* first;
  int count;
  const Kernel* begin() const { return first; }
  const Kernel* end() const { return first + count; }
};

#define NBCC_BENCH_KERNELS(isa) \
  namespace isa {               \
  Shapes gravity();             \
  Shapes gravity_double();      \
  Shapes gravity_jerk();        \
  Shapes lennard_jones();       \
  Shapes sph_force();           \
  }
NBCC_BENCH_KERNELS(avx2)
NBCC_BENCH_KERNELS(avx512)
NBCC_BENCH_KERNELS(neon)
#undef NBCC_BENCH_KERNELS

}  // namespace hand_written
