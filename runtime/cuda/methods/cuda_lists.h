// Sums over lists of the caller. The lists are sent to the GPU once; each run launches a kernel that packs the
// j-particles in the order of the lists, and a kernel that sums (templates/cuda/frames/cuda_lists.cu.in,
// cuda_pairs.cu.in). Tested by tests/numeric/lists_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/launch/cuda_exclusions.h"
#include "runtime/cuda/launch/cuda_pace.h"
#include "runtime/cuda/methods/cuda_method.h"
#include "runtime/cuda/program/cuda_kernel.h"

namespace nbcc {

class CudaLists final : public CudaMethod {
 public:
  // All must outlive this object.
  CudaLists(const CudaKernel& kernel, CudaArguments& arguments, const CudaExclusions& exclusions, CudaPace& pace);

  bool has_room(const SumRequest& request) const override;
  [[nodiscard]] bool reserve(const SumRequest& request) override;
  std::size_t bytes_for(const SumRequest& request) const override;
  std::size_t bytes() const override;
  void retain_for_capture() override;
  void release() override;
  bool uses_particle_indices(const SumRequest&) const override { return true; }
  bool reads_in_place(const SumRequest& request) const override;
  void send(const CudaRunContext& context) override;
  double units(const SumRequest& request) const override;
  std::int64_t launches(const SumRequest& request) const override { return reads_in_place(request) ? 1 : 2; }
  void run(const CudaRunContext& context, const CudaPiece& piece) override;

 private:
  // Several arrays, sent to the GPU as one block of memory.
  class Upload;
  const KernelVariant& frame(const SumRequest& request) const;
  CudaVariant variant(const SumRequest& request) const;
  std::size_t packed_bytes(const SumRequest& request) const;
  std::size_t pair_bytes(const SumRequest& request) const;
  bool is_sent(const SumRequest& request) const;
  [[nodiscard]] bool send_lists(const Lists& lists);
  [[nodiscard]] bool send_rows(const PairRows& rows);
  void send_pairs(const CudaRunContext& context);
  unsigned blocks_per_group(const Lists& lists) const;
  double seconds(const SumRequest& request) const;

  const CudaKernel& kernel_;
  CudaArguments& arguments_;
  const CudaExclusions& exclusions_;
  CudaPace& pace_;

  const CudaProgram* program_ = nullptr;  // loaded by the last reserve()
  CudaVariant program_variant_;
  CudaFunction* pack_ = nullptr;

  std::int64_t sent_ = 0;  // Lists::number or PairRows::number of the lists that are on the GPU
  list_data::Lists argument_{};
  list_data::Rows row_argument_{};
  const list_data::index* i_order_ = nullptr;
  CudaBuffer listed_, packed_, pairs_, group_params_;
  CudaPinned pinned_pairs_, pinned_params_;
  CudaEventOwner pairs_sent_, params_sent_;
};

}  // namespace nbcc
