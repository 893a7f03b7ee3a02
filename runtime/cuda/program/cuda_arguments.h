// The first kernel argument of nbcc_interact, the kernel that sums, as bytes: Arguments of
// templates/cuda/frames/cuda_particles.cuh.in, whose members depend on the pipeline. All members are 8 bytes wide or
// arrays of 8-byte elements, so there is no padding.
//
//   CudaView   i[max(1, input_i components)], j[max(1, input_j components)]
//   CudaView   p[input_pair components], if there are any
//   CudaOutput out[max(1, output components)]
//   double     param[max(1, param components)]
//   CudaRun    run
//
// The grid is (blocks of i, j-splits), with LaunchConfig::threads threads per block. With more than one j-split,
// `partial` holds splits * accumulators * ni doubles (accumulators: one per output component and one more for each
// argmin and argmax), and `arrived` holds `splits` unsigned counters per block of i, which must be zero before the
// launch and are zero after it. With one j-split the kernel touches neither array.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "compiler/kernel_source.h"
#include "runtime/cuda/driver/cuda_memory.h"
#include "templates/cuda/frames/cuda_array_data.h"

namespace nbcc {

// One component of an input: the value of particle k is at data + k * stride, naturally aligned. Kernels do not read a
// component that KernelSource::columns does not name; its `data` may be null. k is the particle's index
// in the caller's set; for a chunk, shift `data`. `element`: an Element.
using CudaView = array_data::View;

// One component of an output. `accumulate` has no effect on argmin, argmax, at and softmax.
using CudaOutput = array_data::Output;

// The last members of Arguments.
struct CudaRun {
  // [accumulator][chosen i], double, `running_stride` doubles from one accumulator to the next: sums that several
  // launches, pair methods or j chunks add to. Not accessed when both `first` and `last` are set.
  std::uint64_t running = 0;
  std::int64_t running_stride = 0;
  std::uint64_t partial = 0, arrived = 0;
  std::uint64_t i_list =
      0;  // address of the int64 indices of the chosen i; 0: the chosen i are [i_begin, i_begin + ni)
  std::int64_t i_begin = 0;
  std::int64_t ni = 0;  // chosen i of this launch, at least 1
  std::int64_t nj = 0;  // j of this launch, 0 or more: particles [j_begin, j_begin + nj)
  std::int64_t j_begin = 0;
  std::int64_t i_offset = 0, j_offset = 0;  // added to a particle's index to give i_index, j_index
  std::int64_t first = 1;                   // nonzero: sums begin at zero; zero: sums continue from `running`
  // Nonzero: the kernel applies common factors and finish() and stores results; zero: it stores the sums in `running`.
  std::int64_t last = 1;
};

// Accumulators of a run that several launches, pair methods or j chunks add to: [accumulator][chosen i], double. They
// outlive the run if the caller passes the j of a sum in several runs.
struct CudaAccumulators {
  CudaDevicePointer at = 0;  // address for the piece's first i
  std::int64_t stride = 0;   // doubles from one accumulator to the next
};

// The part of a run that one launch does.
struct CudaPiece {
  std::int64_t i_begin = 0, ni = 0;
  CudaDevicePointer i_list = 0;  // indices of the i of this piece; 0: consecutive i
  std::int64_t j_begin = 0, nj = 0;
  bool first = true;              // sums begin at zero
  bool last = true;               // the launch applies finish() and stores results
  CudaAccumulators accumulators;  // not accessed when both `first` and `last` are set
  // The piece of `count` of its i, from the one with this number on.
  CudaPiece with_i(std::int64_t begin, std::int64_t count) const {
    CudaPiece piece = *this;
    piece.ni = count;
    piece.i_begin += begin;
    if (i_list != 0) piece.i_list += std::uint64_t(begin) * sizeof(std::int64_t);
    if (accumulators.at != 0) piece.accumulators.at += std::uint64_t(begin) * sizeof(double);
    return piece;
  }
};

// The first argument of a kernel, made once and patched before each launch.
class CudaArguments {
 public:
  explicit CudaArguments(const KernelSource& source);
  // A copy serves a launch that stores its results in other arrays than the caller's.
  CudaArguments(const CudaArguments& other);
  CudaArguments& operator=(const CudaArguments&) = delete;
  CudaView& i(int component) { return i_[component]; }
  CudaView& j(int component) { return j_[component]; }
  CudaView& pair(int component) { return pairs_[component]; }  // only if the pipeline has input_pair fields
  CudaOutput& output(int component) { return outputs_[component]; }
  double* params() { return params_; }
  CudaDevicePointer* tables() { return tables_; }  // null if the pipeline has no tables
  // The words of the first copy of each histogram, then the words from one copy to the next, and the number of copies,
  // a power of two, minus 1, and the i_index of the first row.
  CudaDevicePointer& histogram(std::size_t number) { return histograms_[number]; }
  CudaRun& run() { return *run_; }
  // Sets the particles and accumulators of a launch. Does not change the index offsets and the memory of j-splits.
  void set_piece(const CudaPiece& piece);
  void* data() { return bytes_.get(); }
  std::size_t size() const { return size_; }  // bytes

 private:
  std::size_t size_ = 0;  // bytes
  std::unique_ptr<std::byte[]> bytes_;
  CudaView *i_ = nullptr, *j_ = nullptr, *pairs_ = nullptr;
  CudaOutput* outputs_ = nullptr;
  double* params_ = nullptr;
  CudaDevicePointer *tables_ = nullptr, *histograms_ = nullptr;
  CudaRun* run_ = nullptr;
};

// Launches one kernel. `overlaps`: with programmatic dependent launch (PDL), if the driver has it: blocks start while
// the previous launch of the stream ends, so the kernel itself must wait for that launch (griddepcontrol.wait).
// `shared_bytes`: dynamic shared memory of a block.
void launch_kernel(const CudaGpu& gpu, CudaFunction* function, const char* name, unsigned grid_x, unsigned grid_y,
                   unsigned threads, void** arguments, CudaStream* stream, bool overlaps, unsigned shared_bytes = 0);

}  // namespace nbcc
