// Sums over the j within reach of each i, which the GPU searches for: a sequence of launches in the caller's stream
// without copies to the host. templates/cuda/search/cuda_search.cu.in has the kernels and a drawing of them. Tested by
// tests/numeric/cuda_search_test.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/launch/cuda_exclusions.h"
#include "runtime/cuda/launch/cuda_launch.h"
#include "runtime/cuda/methods/cuda_method.h"
#include "runtime/cuda/program/cuda_kernel.h"
#include "runtime/sum/plan/device.h"
#include "templates/cuda/search/cuda_search_data.h"

namespace nbcc {

class CudaSearch final : public CudaMethod {
 public:
  static constexpr std::int64_t kMaxParticles =
      (std::int64_t(1) << 30) - 256;  // 30 bits of the look-back words of the sort

  // The arguments must outlive this object.
  CudaSearch(const CudaKernel& kernel, CudaArguments& arguments, const CudaExclusions& exclusions);

  bool has_room(const SumRequest& request) const override;
  [[nodiscard]] bool reserve(const SumRequest& request) override;
  void retain_for_capture() override { memory_.retain_for_capture(); }
  void release() override { memory_.release(); }
  std::size_t bytes() const override { return memory_.bytes() + report_.bytes(); }
  std::size_t bytes_for(const SumRequest& request) const override { return layout(request, 0).bytes; }
  bool uses_particle_indices(const SumRequest& request) const override { return request.exclusions != nullptr; }
  std::int64_t launches(const SumRequest&) const override { return 8; }
  double units(const SumRequest&) const override { return 0; }  // the GPU alone knows the number of pairs

  // The lists serve later runs of the same Share::epoch until a particle has moved by half of the skin.
  void run(const CudaRunContext& context, const CudaPiece& piece) override;

  // The byte range of a work share in the group-ordered output buffer of the last run. When the ranges of all shares
  // are filled, unpermute() scatters the buffer into the caller's arrays.
  struct BufferRange {
    CudaDevicePointer at = 0;
    std::size_t bytes = 0;
  };
  BufferRange buffer_range(const SumRequest::Share& share) const;
  void unpermute(CudaStream* stream);

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
  // Returns arguments of nbcc_interact whose outputs lie in the group-ordered output buffer; describes the buffer in
  // `search`.
  CudaArguments into_output_buffer(search_data::Search& search) const;
  // `overlaps`: programmatic dependent launch (PDL), if the kernels wait for earlier launches.
  void launch(const char* name, unsigned blocks, unsigned sides, unsigned threads, std::vector<void*> arguments,
              CudaStream* stream, bool overlaps) const;

  const CudaKernel& kernel_;
  CudaArguments& arguments_;
  const CudaExclusions& exclusions_;
  const CudaProgram* program_ = nullptr;
  bool program_has_exclusions_ = false;
  std::map<std::string_view, CudaFunction*> functions_;  // of program_
  CudaBuffer memory_, report_;
  bool clear_report_ = false;  // report_ is new memory, which the next run clears
  bool clear_domain_ = false;  // the domain is new memory or was half-written by a failed run; the next run clears it
  search_data::Search last_ = {};  // of the last run
  std::int64_t last_ni_ = 0;
  std::int64_t runs_ = 0, epoch_ = 0;  // Share::epoch of the last run
};

}  // namespace nbcc
