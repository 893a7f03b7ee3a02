// The argument of nbcc_interact, the kernel that sums, as bytes: templates/cuda_particles.cuh.in declares the same
// structs. All members are 8 bytes wide or arrays of such, so that there is no padding.
//
//   CudaView   i[max(1, input_i components)], j[max(1, input_j components)]
//   CudaView   p[input_pair components], if there are any
//   CudaOutput out[max(1, output components)]
//   double     param[max(1, param components)]
//   CudaRun    run
//
// Launched with a grid of (blocks of i, j-splits) and LaunchConfig::threads threads per block. With more than one split
// `partial` holds splits * accumulators * ni doubles (accumulators: one per output component and one more for each
// argmin and argmax), and `arrived` splits unsigned per block of i, which must be zero before the launch and are zero
// after it; with one neither is touched.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "compiler/kernel_source.h"
#include "runtime/cuda/cuda_memory.h"

namespace nbcc {

// Component of an input: particle k's is at data + k * stride, naturally aligned. A component that no column of
// KernelSource::i_columns (j_columns) names is not read and may be null. Particles are counted from 0 in the caller's
// set: for a chunk, shift `data`.
struct CudaView {
  std::uint64_t data = 0;
  std::int64_t stride = 0;   // bytes
  std::int64_t element = 0;  // an Element
};

// Component of an output; data = 0: not wanted.
struct CudaOutput {
  std::uint64_t data = 0;
  std::int64_t stride = 0;
  std::int64_t element = 0;
  std::int64_t onto = 0;  // nonzero: combined with what is there by the reduction (not argmin, argmax, at, softmax)
};

struct CudaRun {
  // [accumulator][chosen i] doubles, `running_stride` of them from an accumulator to the next: between launches,
  // methods and parts that add to the same sums. Not read when `first` and `last`.
  std::uint64_t running = 0;
  std::int64_t running_stride = 0;
  std::uint64_t partial = 0, arrived = 0;
  std::uint64_t i_list = 0;  // int64 indices of the chosen i, or 0: those from i_begin on
  std::int64_t i_begin = 0;
  std::int64_t ni = 0;  // chosen i of this launch, at least 1
  std::int64_t nj = 0;  // j of this launch, 0 or more: particles [j_begin, j_begin + nj)
  std::int64_t j_begin = 0;
  std::int64_t i_offset = 0, j_offset = 0;  // added to a particle's index to give i_index, j_index
  std::int64_t first = 1;                   // nonzero: sums begin anew; zero: they go on with `running`
  std::int64_t last = 1;  // nonzero: common factors, finish(), results stored; zero: sums are left in `running`
};

// Accumulators of a run that several launches, methods or parts add to: [accumulator][chosen i], double. They outlive
// the run where its j come in parts.
struct CudaAccumulators {
  CudaDevicePointer at = 0;  // of the piece's first i
  std::int64_t stride = 0;   // doubles from an accumulator to the next
};

// What one launch takes of a run.
struct CudaPiece {
  std::int64_t i_begin = 0, ni = 0;
  CudaDevicePointer i_list = 0;  // of this piece
  std::int64_t j_begin = 0, nj = 0;
  bool first = true, last = true;  // sums begin anew; finish() is applied and results are stored
  CudaAccumulators accumulators;   // not read when `first` and `last`
};

// The argument of one kernel, made once and patched from run to run.
class CudaArguments {
 public:
  explicit CudaArguments(const KernelSource& source);
  // For a launch whose outputs are not the caller's.
  CudaArguments(const CudaArguments& other);
  CudaArguments& operator=(const CudaArguments&) = delete;
  CudaView& i(int component) { return i_[component]; }
  CudaView& j(int component) { return j_[component]; }
  CudaView& pair(int component) { return pairs_[component]; }  // where the pipeline has inputs of pairs
  CudaOutput& output(int component) { return outputs_[component]; }
  double* params() { return params_; }
  CudaDevicePointer* tables() { return tables_; }  // null where the pipeline has none
  CudaRun& run() { return *run_; }
  // The particles and accumulators of a launch. Offsets, and the memory of j-splits, stay as they are.
  void set_piece(const CudaPiece& piece);
  void* data() { return bytes_.get(); }

 private:
  std::size_t size_ = 0;  // bytes
  std::unique_ptr<std::byte[]> bytes_;
  CudaView *i_ = nullptr, *j_ = nullptr, *pairs_ = nullptr;
  CudaOutput* outputs_ = nullptr;
  double* params_ = nullptr;
  CudaDevicePointer* tables_ = nullptr;
  CudaRun* run_ = nullptr;
};

// One launch. `early`: the GPU gets ready while the launch before comes to its end (programmatic dependent launch),
// where the driver can; the kernel must then wait for that launch itself.
void launch_kernel(const CudaGpu& gpu, CudaFunction* function, const char* name, unsigned grid_x, unsigned grid_y,
                   unsigned threads, void** arguments, CudaStream* stream, bool early);

}  // namespace nbcc
