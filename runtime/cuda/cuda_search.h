// Sums over the j within reach of each i, which the GPU searches for: a sequence of launches in the caller's stream
// without copies to the host. templates/cuda_search.cu.in has the kernels and a drawing of them. Tested by
// tests/numeric/cuda_search_test.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cuda/cuda_kernel.h"
#include "runtime/cuda/cuda_launch.h"
#include "runtime/cuda/cuda_left_out.h"
#include "runtime/cuda/cuda_memory.h"
#include "runtime/cuda/cuda_method.h"
#include "runtime/sum/device.h"
#include "templates/cuda_search_data.h"

namespace nbcc {

class CudaSearch final : public CudaMethod {
 public:
  static constexpr std::int64_t kMostParticles =
      (std::int64_t(1) << 30) - 256;  // 30 bits of the look-back words of the sort

  // All must outlive this object.
  CudaSearch(const CudaKernel& kernel, CudaArguments& arguments, const CudaLeftOut& left_out);

  bool has_room(const SumRequest& request) const override;
  [[nodiscard]] bool reserve(const SumRequest& request) override;
  void keep_old() override { memory_.keep_old(); }
  void release() override { memory_.release(); }
  std::size_t bytes() const override { return memory_.bytes() + report_.bytes(); }
  std::size_t bytes_for(const SumRequest& request) const override { return layout(request, 0).bytes; }
  bool goes_by_numbers(const SumRequest& request) const override { return request.left_out != nullptr; }
  std::int64_t launches(const SumRequest&) const override { return 8; }
  double units(const SumRequest&) const override { return 0; }  // the GPU alone knows the number of pairs

  // The lists serve later runs of the same Share::epoch until a particle has moved by half of the skin.
  void run(const CudaRunContext& context, const CudaPiece& piece) override;

  // The share's part of the group-ordered output buffer of the last run. collect() unpermutes the buffer into the
  // caller's arrays, when the parts of all shares are in it.
  struct Rows {
    CudaDevicePointer at = 0;
    std::size_t bytes = 0;
  };
  Rows rows_of(const SumRequest::Share& share) const;
  void collect(CudaStream* stream);

  // Valid when the work of all runs is done.
  SumStatistics statistics() const;

 private:
  // The kernels' last argument, with the addresses of the arrays of a run.
  struct Layout {
    search_data::Search argument = {};
    std::size_t counter_count = 0, bytes = 0;
  };
  Layout layout(const SumRequest& request, CudaDevicePointer at) const;
  bool i_are_j(const SumRequest& request, const CudaPiece& piece) const;
  // Arguments of nbcc_interact whose outputs lie in the group-ordered output buffer; describes the buffer in `search`.
  CudaArguments into_output_buffer(search_data::Search& search) const;
  // overlaps: programmatic dependent launch (PDL), if the kernels wait for earlier launches.
  void launch(const char* name, unsigned blocks, unsigned sides, unsigned threads, std::vector<void*> arguments,
              CudaStream* stream, bool overlaps) const;

  const CudaKernel& kernel_;
  CudaArguments& arguments_;
  const CudaLeftOut& left_out_;
  const CudaProgram* program_ = nullptr;
  bool program_leaves_out_ = false;
  std::map<std::string_view, CudaFunction*> functions_;  // of program_
  CudaBuffer memory_, report_;
  bool clear_report_ = false;      // new memory, which the next run clears
  bool clear_domain_ = false;      // new memory, or half-written by a run that failed: the next run clears it
  search_data::Search last_ = {};  // of the last run
  std::int64_t last_ni_ = 0;
  std::int64_t runs_ = 0, epoch_ = 0;  // Share::epoch of the last run
};

}  // namespace nbcc
