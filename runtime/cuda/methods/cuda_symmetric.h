// Sums over all pairs of one set that compute each pair once (templates/cuda/frames/cuda_symmetric.cu.in): one launch
// for the pairs, one that adds and stores. Tested by tests/numeric/symmetric_test.cpp.
#pragma once
#include <string>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/launch/cuda_pace.h"
#include "runtime/cuda/methods/cuda_method.h"
#include "runtime/cuda/methods/cuda_search.h"
#include "runtime/cuda/program/cuda_kernel.h"
#include "templates/cuda/frames/cuda_symmetric_data.h"

namespace nbcc {

class CudaSymmetric final : public CudaMethod {
 public:
  // All must outlive this object.
  CudaSymmetric(const CudaKernel& kernel, CudaArguments& arguments, CudaPace& pace)
      : kernel_(kernel), arguments_(arguments), pace_(pace), slots_(kernel.gpu()) {}

  // Why a sum over so many particles is left to kernels that compute each pair twice; "": it is not. Depends only on
  // the number of particles, the kernel and the GPU.
  // `always`: too few particles are no reason.
  std::string obstacle(std::int64_t particles, bool always) const;
  // The time of a run, relative to one that keeps all multiprocessors busy until its end.
  double idling(std::int64_t particles) const;

  bool has_room(const SumRequest& request) const override;
  [[nodiscard]] bool reserve(const SumRequest& request) override;
  std::size_t bytes_for(const SumRequest& request) const override;
  std::size_t bytes() const override { return slots_.bytes(); }
  void retain_for_capture() override { slots_.retain_for_capture(); }
  void release() override { slots_.release(); }
  double units(const SumRequest& request) const override { return pairs_of(request); }
  std::int64_t launches(const SumRequest&) const override { return 2; }
  bool uses_particle_indices(const SumRequest&) const override { return true; }
  void run(const CudaRunContext& context, const CudaPiece& piece) override;
  // A run divided among GPUs: a share are distances of groups. buffer_range(): the slots of the last run's share.
  // store() adds all slots and stores the results, when this GPU has the slots of all shares.
  CudaSearch::BufferRange buffer_range(const SumRequest::Share& share) const;
  void store(CudaStream* stream);

 private:
  // How a number of particles is divided: into `groups` groups of `tiles` tiles.
  struct Division {
    LaunchConfig config;
    std::int64_t groups = 0, tiles = 1;
    double bytes = 0;  // of all slots
    std::int64_t distances() const { return groups / 2 + 1; }
  };
  Division divide(std::int64_t particles) const;

  const CudaKernel& kernel_;
  CudaArguments& arguments_;
  CudaPace& pace_;
  const CudaProgram* program_ = nullptr;  // loaded by the last reserve()
  CudaFunction* store_ = nullptr;
  symmetric_data::Symmetric last_{};  // of the last run
  std::int64_t last_particles_ = 0;
  CudaBuffer slots_;
};

}  // namespace nbcc
