// Runs over lists of the caller, or over all pairs but some: what is listed goes to the GPU once, the j-particles are
// packed in the order of the lists by every run, and a launch sums (templates/cuda_lists.cu.in, cuda_pairs.cu.in).
// Tested by tests/numeric/lists_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_kernel.h"
#include "runtime/cuda/cuda_left_out.h"
#include "runtime/cuda/cuda_memory.h"
#include "runtime/cuda/cuda_pace.h"
#include "runtime/cuda/cuda_whole.h"

namespace nbcc {

// The last argument of the kernels of cuda_lists.cu.in, and of cuda_pairs.cu.in, as the texts declare them.
struct CudaListArgument {
  CudaDevicePointer i_first = 0, range_first = 0, ranges = 0, j_order = 0, shifts = 0, params = 0, packed = 0;
  CudaLeftOutTable left_out;
  std::int64_t groups = 0, first_group = 0;
};
struct CudaRowArgument {
  CudaDevicePointer first = 0, slab_first = 0, numbers = 0, packed = 0;
  std::int64_t first_i = 0;
};

class CudaLists final : public CudaWhole {
 public:
  // All must outlive this object.
  CudaLists(const CudaKernel& kernel, CudaArguments& arguments, const CudaLeftOut& left_out, CudaPace& pace);

  // What the next runs are over, one of the two; it must live until the next call.
  void choose(const SumRequest& request, const Lists* lists, const PairRows* rows);
  // The j are read by every block that they act on, where they are, and no copy of them.
  bool reads_in_place() const;

  bool has_room(std::int64_t ni, std::int64_t nj) const override;
  [[nodiscard]] bool reserve(std::int64_t ni, std::int64_t nj) override;
  std::size_t bytes_for(std::int64_t ni, std::int64_t nj) const override;
  std::size_t bytes() const override;
  void keep_old() override;
  void release() override;
  bool goes_by_numbers() const override { return true; }
  void send(const SumRequest& request, CudaStream* stream, bool capturing) override;
  double units(const SumRequest& request) const override;
  void run(const SumRequest& request, const CudaPiece& piece, CudaStream* stream, bool capturing) override;

 private:
  // Arrays that go to the GPU in one piece.
  class Parcel;
  CudaVariant variant() const;  // that sums over what is chosen
  const KernelVariant& frame() const;
  std::int64_t packed_bytes(std::int64_t nj) const { return nj * frame().packed_bytes; }
  std::int64_t pair_bytes() const;
  bool is_sent() const { return sent_ == (rows_ ? rows_->number : lists_->number); }
  [[nodiscard]] bool send_lists();
  [[nodiscard]] bool send_rows();
  void send_pairs(const SumRequest& request, CudaStream* stream, bool capturing);
  unsigned shares_of_groups() const;
  double seconds(const SumRequest& request) const;

  const CudaKernel& kernel_;
  CudaArguments& arguments_;
  const Lists* lists_ = nullptr;  // chosen
  const PairRows* rows_ = nullptr;
  const CudaLeftOut& left_out_;
  CudaPace& pace_;
  bool leaves_out_ = false;
  std::span<const double> params_;  // of groups

  const CudaProgram* program_ = nullptr;  // of the last reserve()
  CudaVariant program_variant_;
  CudaFunction* pack_ = nullptr;

  std::int64_t sent_ = 0;  // the number of the lists, or rows, that are on the GPU
  CudaListArgument argument_;
  CudaRowArgument row_argument_;
  CudaDevicePointer i_order_ = 0;
  CudaBuffer listed_, packed_, pairs_, group_params_;
  CudaPinned pinned_pairs_, pinned_params_;
  CudaEventOwner pairs_sent_, params_sent_;
};

}  // namespace nbcc
