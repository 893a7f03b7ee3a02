// Runs of a search for neighbours, and of sums over what it finds: a few launches in the caller's stream, one after the
// other, without copies to the host (templates/cuda_search.cu.in has the kernels, and says how they search).
// Tested by tests/numeric/cuda_search_test.cpp.
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

namespace nbcc {

// The last argument of the kernels that search, as the text declares it; all members are 8 bytes wide.
struct CudaSearchSet {
  std::int64_t count = 0;
  CudaDevicePointer anchors = 0, sorted = 0, low = 0, high = 0, keys = 0, order = 0, groups = 0;
};
struct CudaSearchArgument {
  static constexpr int kMostLevels = 8;
  CudaSearchSet j, i;
  CudaDevicePointer packed = 0, boxes = 0;
  std::int64_t first_box[kMostLevels] = {};
  std::int64_t top = 0;
  CudaDevicePointer lists = 0, list_sizes = 0, extents = 0, space = 0, told = 0, counters = 0;
  std::int64_t i_are_j = 0;
  double skin = 0;
  std::int64_t first_group = 0, end_group = 0;
  CudaDevicePointer needed = 0;
  std::int64_t in_rows = 0;
  CudaDevicePointer rows = 0;
  std::int64_t row_bytes = 0, row_element = 0;
  CudaDevicePointer rank = 0;
  CudaLeftOutTable left_out;
};
static_assert(sizeof(CudaSearchArgument) == 360, "as the text has it");

class CudaSearch final : public CudaMethod {
 public:
  static constexpr std::int64_t kMostParticles =
      (std::int64_t(1) << 30) - 256;  // that words of the sort and lists count

  // All must outlive this object.
  CudaSearch(const CudaKernel& kernel, CudaArguments& arguments, const CudaLeftOut& left_out);

  bool has_room(const SumRequest& request) const override;
  [[nodiscard]] bool reserve(const SumRequest& request) override;
  void keep_old() override { memory_.keep_old(); }
  void release() override { memory_.release(); }
  std::size_t bytes() const override { return memory_.bytes() + told_.bytes(); }
  std::size_t bytes_for(const SumRequest& request) const override { return layout(request, 0).bytes; }
  bool goes_by_numbers(const SumRequest& request) const override { return request.left_out != nullptr; }
  std::int64_t launches(const SumRequest&) const override { return 8; }
  double units(const SumRequest&) const override { return 0; }  // how many pairs there are the GPU finds out

  // With a skin what is found serves later runs of the same Share::epoch until a particle has moved by half of it.
  void run(const CudaRunContext& context, const CudaPiece& piece) override;

  // Results of the share of a run are in rows, which collect() brings to the caller's arrays when those of all shares
  // are there: where they lie, and how many bytes they are.
  struct Rows {
    CudaDevicePointer at = 0;
    std::size_t bytes = 0;
  };
  Rows rows_of(const SumRequest::Share& share) const;  // of the last run
  void collect(CudaStream* stream);

  // When the work of all runs is done.
  SumStatistics statistics() const;

 private:
  // Where everything lies in the memory for a run.
  struct Layout {
    CudaSearchArgument argument;
    std::size_t counter_count = 0, bytes = 0;
  };
  Layout layout(const SumRequest& request, CudaDevicePointer at) const;
  bool i_are_j(const SumRequest& request, const CudaPiece& piece) const;
  // Arguments of nbcc_interact whose outputs are rows of the group-ordered output buffer; describes the rows in
  // `search`.
  CudaArguments into_rows(CudaSearchArgument& search) const;
  void launch(const char* name, unsigned blocks, unsigned sides, unsigned threads, std::vector<void*> arguments,
              CudaStream* stream, bool early) const;

  const CudaKernel& kernel_;
  CudaArguments& arguments_;
  const CudaLeftOut& left_out_;
  const CudaProgram* program_ = nullptr;  // when it is loaded
  bool program_leaves_out_ = false;
  std::map<std::string_view, CudaFunction*> functions_;  // of it
  CudaBuffer memory_, told_;
  bool clear_told_ = false;   // new memory, which the next run clears
  bool clear_space_ = false;  // new memory, or left half-written by a run that failed: the next run clears it
  CudaSearchArgument last_;   // of the last run
  std::int64_t last_ni_ = 0;
  std::int64_t runs_ = 0, epoch_ = 0;  // Share::epoch of the last run
};

}  // namespace nbcc
