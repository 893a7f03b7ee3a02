// Launches of nbcc_interact: the argument, the cut of the work and the memory that parts of j need.
// Tested by tests/unit/cuda_sum_test.cpp and cuda_launch_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/cuda/cuda_arguments.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_memory.h"
#include "runtime/sum/reduction.h"

namespace nbcc {

// The argument of one kernel, made once and patched from run to run.
class CudaArguments {
 public:
  explicit CudaArguments(const KernelSource& source);
  CudaView& i(int component) { return i_[component]; }
  CudaView& j(int component) { return j_[component]; }
  CudaOutput& output(int component) { return outputs_[component]; }
  double* params() { return params_; }
  CudaRun& run() { return *run_; }
  void* data() { return bytes_.get(); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  CudaView *i_ = nullptr, *j_ = nullptr;
  CudaOutput* outputs_ = nullptr;
  double* params_ = nullptr;
  CudaRun* run_ = nullptr;
};

// What one launch takes of a run.
struct CudaPiece {
  std::int64_t i_begin = 0, ni = 0;
  CudaDevicePointer i_list = 0;  // of this piece
  std::int64_t j_begin = 0, nj = 0;
  bool first = true, last = true;
  CudaDevicePointer running = 0;
};

class CudaLauncher {
 public:
  explicit CudaLauncher(const CudaKernel& kernel)
      : kernel_(kernel), arguments_(kernel.source), partial_(kernel.gpu()), arrived_(kernel.gpu()) {}

  CudaArguments& arguments() { return arguments_; }

  // What the caller chooses of the cuts from now on; zeros leave the choice.
  void set_cut(const CudaTuning& told);
  // Cuts for a sum over nj for ni; launches of pieces of them keep the cut, so that no result depends on the pieces.
  // Throws DeviceError if a kernel would have to be loaded and that is not allowed, UsageError if there can be no
  // kernel of the shape that the caller chose.
  void cut_for(std::int64_t ni, std::int64_t nj, bool may_load);
  CudaTuning cut() const;  // that cut_for() found
  std::int64_t i_per_block() const { return i_per_block_; }
  // Of memory for each i, in a launch.
  std::int64_t bytes_per_i() const { return parts_ * slots() * std::int64_t(sizeof(double)); }
  int slots() const { return slots_; }

  // Memory for launches of up to ni of i. False: there is not so much. New memory is cleared in `stream`.
  bool has_room(std::int64_t ni) const;
  [[nodiscard]] bool reserve(std::int64_t ni, CudaStream* stream);
  void release();
  void keep_old();
  std::size_t bytes() const { return partial_.bytes() + arrived_.bytes(); }

  // Launches from now on are captured into a graph.
  void set_capturing(bool capturing) { capturing_ = capturing; }
  void launch(const CudaPiece& piece, CudaStream* stream);

 private:
  std::size_t arrived_bytes(std::int64_t ni) const;
  void launch(unsigned blocks, unsigned parts, CudaStream* stream);

  const CudaKernel& kernel_;
  CudaArguments arguments_;
  int slots_ = accumulators_of(kernel_.source);
  CudaTuning told_;
  std::int64_t ni_ = -1, nj_ = -1;  // what the cut is for
  const CudaProgram* program_ = nullptr;
  std::int64_t i_per_block_ = 1;
  int parts_ = 1, short_parts_ = 0;
  bool capturing_ = false;
  CudaBuffer partial_, arrived_;
};

}  // namespace nbcc
