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
#include "runtime/cuda/cuda_texts.h"
#include "runtime/cuda/cuda_whole.h"

namespace nbcc {

// The last argument of the kernels of cuda_lists.cu.in, and of cuda_pairs.cu.in, as the texts declare them.
struct CudaListArgument {
  CudaDevicePointer i_first = 0, range_first = 0, ranges = 0, j_order = 0, shifts = 0, params = 0, packed = 0,
                    left_out = 0, far = 0;
  std::int64_t groups = 0;
};
struct CudaRowArgument {
  CudaDevicePointer first = 0, slab_first = 0, numbers = 0, packed = 0;
};

class CudaLists final : public CudaWhole {
 public:
  // Both must outlive this object.
  CudaLists(const CudaKernel& kernel, CudaArguments& arguments);

  // What the next runs are over: lists, or rows of pairs, or, if both are null, all pairs. They and the request's
  // pairs that are left out must live until the next call.
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
  void run(const SumRequest& request, const CudaPiece& piece, CudaStream* stream, bool capturing) override;

 private:
  // Arrays that go to the GPU in one piece.
  class Parcel;
  KernelText text() const;
  std::int64_t pair_bytes() const;
  bool is_sent(std::int64_t ni, std::int64_t nj) const;
  [[nodiscard]] bool send(std::int64_t ni, std::int64_t nj);
  [[nodiscard]] bool send_lists(std::int64_t ni, std::int64_t nj);
  [[nodiscard]] bool send_rows();
  void send_pairs(const SumRequest& request, CudaStream* stream, bool capturing);
  unsigned shares_of_groups() const;

  const CudaKernel& kernel_;
  CudaArguments& arguments_;
  const Lists* lists_ = nullptr;  // chosen
  const PairRows* rows_ = nullptr;
  const LeftOut* left_out_ = nullptr;
  std::span<const double> params_;  // of groups

  const CudaProgram* program_ = nullptr;  // of the last reserve()
  KernelText program_text_;
  CudaFunction* pack_ = nullptr;

  // What is on the GPU: of which lists, or all pairs of how many particles.
  std::int64_t sent_lists_ = 0, sent_rows_ = 0;
  std::array<std::int64_t, 2> sent_counts_{-1, -1};
  std::int64_t groups_ = 0, most_i_ = 0, i_count_ = 0;
  CudaListArgument argument_;
  CudaRowArgument row_argument_;
  CudaDevicePointer i_order_ = 0;
  CudaLeftOut table_;
  CudaBuffer listed_, packed_, pairs_, group_params_;
  CudaPinned pinned_pairs_, pinned_params_;
  CudaEventOwner pairs_sent_, params_sent_;
};

}  // namespace nbcc
