// Pieces of a run -> launches of nbcc_interact: the argument, the launch configuration and the memory of j-splits.
// Tested by tests/unit/runtime/cuda/run/cuda_sum_test.cpp and cuda_launch_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/cuda/driver/choose_launch.h"
#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/launch/cuda_exclusions.h"
#include "runtime/cuda/launch/cuda_indices.h"
#include "runtime/cuda/launch/cuda_pace.h"
#include "runtime/cuda/launch/cuda_packed_vectors.h"
#include "runtime/cuda/program/cuda_arguments.h"
#include "runtime/cuda/program/cuda_kernel.h"
#include "runtime/sum/request/reduction.h"

namespace nbcc {

// The run that launches belong to.
struct CudaRunContext {
  const SumRequest& request;
  CudaStream* stream = nullptr;
  bool capturing = false;  // the stream is captured into a graph
};

class CudaLauncher {
 public:
  // Both must outlive this object. `exclusions`: the table that launches with exclusions read.
  CudaLauncher(const CudaKernel& kernel, const CudaExclusions& exclusions)
      : kernel_(kernel),
        exclusions_(exclusions),
        arguments_(kernel.source),
        partial_(kernel.gpu()),
        arrived_(kernel.gpu()),
        vectors_(kernel),
        pace_(kernel.gpu()) {}

  CudaArguments& arguments() { return arguments_; }
  CudaIndexChecks& index_checks() { return index_checks_; }
  CudaPace& pace() { return pace_; }

  // Numbers of the launch configuration that the caller chooses for the next runs; zeros are chosen by configure().
  void set_overrides(const LaunchConfig& overrides);
  // Chooses the configuration for a sum over nj j for each of ni i. Launches of pieces of the sum keep it, so that no
  // result depends on the pieces. Throws DeviceError if a kernel must be loaded but may_load is false, UsageError if
  // the compiler rejects the caller's configuration.
  void configure(std::int64_t ni, std::int64_t nj, bool exclusions, bool may_load);
  // For sums over lists or by a search, whose pairs another program computes: takes the first configuration of the
  // source, whose program is already loaded.
  void configure_without_pairs();
  // Call after configure(). The next launches poll `progress`, and are cut into slices of i that are predicted to take
  // at most CudaPace::kMaxLaunchSeconds. Null: no polling and no slices; without pairs, no slices.
  void set_progress(Progress* progress);
  LaunchConfig config() const;  // chosen by configure()
  std::int64_t i_per_block() const { return program_->config().i_per_block(); }
  // Bytes of partial sums for each i of a launch.
  std::int64_t bytes_per_i() const { return j_splits_ * accumulators() * std::int64_t(sizeof(double)); }
  std::int64_t bytes_for(std::int64_t ni) const {
    return ni * bytes_per_i() + std::int64_t(arrived_bytes(ni)) + vectors_.bytes_for(ni, nj_);
  }
  int accumulators() const { return accumulators_; }

  // Memory for launches of up to ni i-particles. reserve() returns false if the GPU's memory does not suffice, and
  // clears new memory in `stream`.
  bool has_room(std::int64_t ni) const;
  [[nodiscard]] bool reserve(std::int64_t ni, CudaStream* stream);
  void release();
  void retain_for_capture();
  std::size_t bytes() const { return partial_.bytes() + arrived_.bytes() + vectors_.bytes(); }

  void launch(const CudaPiece& piece, const CudaRunContext& context);
  // Checks table indices for a sum that a CudaMethod does (launch() calls this itself).
  void check_indices(const CudaPiece& piece, const CudaRunContext& context);

 private:
  int splits_of(std::int64_t nj) const;
  std::size_t arrived_bytes(std::int64_t ni) const;
  void set_piece(const CudaPiece& piece);
  void launch_slice(const CudaPiece& slice, const CudaRunContext& context);
  CudaDevicePointer sent_argument(const CudaRunContext& context);
  CudaOccupancy occupancy() const;

  const CudaKernel& kernel_;
  const CudaExclusions& exclusions_;
  CudaArguments arguments_;
  int accumulators_ = accumulators_of(kernel_.source);
  LaunchConfig overrides_;
  // The arguments of the last configure().
  std::int64_t ni_ = -1, nj_ = -1;
  bool has_exclusions_ = false;
  const CudaProgram* program_ = nullptr;
  int j_splits_ = 1;
  std::int64_t slice_ = 0;  // maximum number of i per launch; 0: all i of a piece
  CudaBuffer partial_, arrived_;
  CudaPackedVectors vectors_;
  // The argument of each launch of a run, for a kernel that reads it from the GPU's memory.
  struct SentArgument {
    explicit SentArgument(const CudaGpu& gpu) : on_gpu(gpu) {}
    CudaBuffer on_gpu;
    std::vector<std::byte> bytes;  // its contents; empty: unknown
  };
  std::deque<SentArgument> sent_arguments_;
  std::size_t launches_ = 0;  // of this run so far
  CudaPace pace_;
  CudaIndexChecks index_checks_{kernel_, arguments_};
};

}  // namespace nbcc
