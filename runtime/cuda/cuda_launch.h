// Pieces of a run -> launches of nbcc_interact: the argument, the launch configuration and the memory of j-splits.
// Tested by tests/unit/cuda_sum_test.cpp and cuda_launch_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/cuda/choose_launch.h"
#include "runtime/cuda/cuda_arguments.h"
#include "runtime/cuda/cuda_indices.h"
#include "runtime/cuda/cuda_kernel.h"
#include "runtime/cuda/cuda_left_out.h"
#include "runtime/cuda/cuda_memory.h"
#include "runtime/cuda/cuda_pace.h"
#include "runtime/sum/reduction.h"

namespace nbcc {

// A run as its launches see it.
struct CudaRunContext {
  const SumRequest& request;
  CudaStream* stream = nullptr;
  bool capturing = false;  // the launches go into a graph
};

class CudaLauncher {
 public:
  // Both must outlive this object. `left_out`: what launches with exclusions read.
  CudaLauncher(const CudaKernel& kernel, const CudaLeftOut& left_out)
      : kernel_(kernel),
        left_out_(left_out),
        arguments_(kernel.source),
        partial_(kernel.gpu()),
        arrived_(kernel.gpu()),
        pace_(kernel.gpu()) {}

  CudaArguments& arguments() { return arguments_; }
  CudaIndexChecks& index_checks() { return index_checks_; }
  CudaPace& pace() { return pace_; }

  // Numbers of the launch configuration that the caller chooses from now on; zeros leave the choice.
  void set_overrides(const LaunchConfig& overrides);
  // For a sum over nj for ni; launches of pieces of it keep the configuration, so that no result depends on the pieces.
  // Throws DeviceError if a kernel would have to be loaded and that is not allowed, UsageError if there can be no
  // kernel of what the caller chose.
  void configure(std::int64_t ni, std::int64_t nj, bool exclusions, bool may_load);
  // After configure(): launches from now on ask `progress`, and are cut into slices of i that take CudaPace::kLongest
  // at most. Null: they ask nothing, and are not cut.
  void ask(Progress* progress);
  LaunchConfig config() const;  // that configure() found
  std::int64_t i_per_block() const { return program_->config().i_per_block(); }
  // Of memory for each i, in a launch.
  std::int64_t bytes_per_i() const { return j_splits_ * accumulators() * std::int64_t(sizeof(double)); }
  std::int64_t bytes_for(std::int64_t ni) const { return ni * bytes_per_i() + std::int64_t(arrived_bytes(ni)); }
  int accumulators() const { return accumulators_; }

  // Memory for launches of up to ni of i. False: there is not so much. New memory is cleared in `stream`.
  bool has_room(std::int64_t ni) const;
  [[nodiscard]] bool reserve(std::int64_t ni, CudaStream* stream);
  void release();
  void keep_old();
  std::size_t bytes() const { return partial_.bytes() + arrived_.bytes(); }

  void launch(const CudaPiece& piece, const CudaRunContext& context);
  // The indices of tables, where they are checked and launch() does not sum.
  void check_indices(const CudaPiece& piece, const CudaRunContext& context);

 private:
  int splits_of(std::int64_t nj) const;
  std::size_t arrived_bytes(std::int64_t ni) const;
  void set_piece(const CudaPiece& piece);
  void launch_slice(const CudaPiece& slice, const CudaRunContext& context);
  CudaOccupancy occupancy() const;

  const CudaKernel& kernel_;
  const CudaLeftOut& left_out_;
  CudaArguments arguments_;
  int accumulators_ = accumulators_of(kernel_.source);
  LaunchConfig overrides_;
  std::int64_t ni_ = -1, nj_ = -1;  // what the configuration is for
  bool exclusions_ = false;         // the same
  const CudaProgram* program_ = nullptr;
  int j_splits_ = 1;
  std::int64_t slice_ = 0;  // the i of a launch at most; 0: all of a piece
  CudaBuffer partial_, arrived_;
  CudaPace pace_;
  CudaIndexChecks index_checks_{kernel_, arguments_};
};

}  // namespace nbcc
