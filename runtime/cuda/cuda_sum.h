// A sum on a GPU. From arrays on the device a run is one launch in the caller's stream, without copies; arrays of the
// host pass through pinned memory in chunks (cuda_stage.h). Sums over neighbours begin with a search (cuda_search.h).
//
// The order in which terms join is fixed by the GPU, the kernel, ni and nj, so that results are equal bit for bit from
// run to run.
// Tested by tests/unit/cuda_sum_test.cpp.
#pragma once
#include <memory>
#include <vector>

#include "runtime/cuda/cuda_launch.h"
#include "runtime/cuda/cuda_lists.h"
#include "runtime/cuda/cuda_residency.h"
#include "runtime/cuda/cuda_search.h"
#include "runtime/cuda/cuda_stage.h"

namespace nbcc {

class CudaSummation final : public Summation {
 public:
  // The kernel must outlive this object.
  explicit CudaSummation(const CudaKernel& kernel) : kernel_(kernel), gpu_(kernel.gpu()) {}
  ~CudaSummation() override;
  void run(const SumRequest& request, AllPairs) override { run(request, nullptr); }
  void run(const SumRequest& request, Neighbours neighbours) override;
  bool search_may_pay(const SumRequest& request) const override;
  bool will_search(const SumRequest& request, Neighbours neighbours);
  // Throws UsageError where pairs = cutoff asks for a search that cannot be done.
  void check_must_search(const SumRequest& request) const;
  void run(const SumRequest& request, Listed listed) override;
  void run(const SumRequest& request, ListedPairs listed) override;
  // What a search has kept is not used again.
  void search_anew() { search_.forget(); }
  // After searches over the shares of a run: where the results of a share are in rows, and, when all rows are here, the
  // way from there to the caller's arrays, in the stream of that run.
  CudaSearch::Rows rows_of(const SumRequest::Share& share) const { return search_.rows_of(share); }
  void send_rows(const CudaSearch::Rows& to, const SumRequest::Share& share);
  void collect();
  // What is given to a stream from here on comes after the last run.
  void follow(CudaStream* stream);
  void fetch(void* to, const void* from, std::size_t bytes) const override;
  void wait(Progress* progress) override;
  bool can_read(const std::int64_t* list) const override;
  void set_launch(const LaunchConfig& overrides) override {
    launcher_.set_overrides(overrides);
    chosen_launch_ = overrides != LaunchConfig{};
  }
  LaunchConfig launch_for(std::int64_t ni, std::int64_t nj) override;
  SumStatistics statistics() const override;

 private:
  void run(const SumRequest& request, CudaWhole* whole);
  void leave_out(const SumRequest& request, bool all_pairs, bool capturing);
  void send_tables(const SumRequest& request, bool capturing);
  void bind(const SumRequest& request);
  void run_on_device(const SumRequest& request, bool list_on_device, CudaStream* stream, bool capturing);
  void run_whole(const SumRequest& request, CudaWhole& whole, bool list_on_device, CudaStream* stream, bool capturing);
  void size_whole(const SumRequest& request, CudaWhole& whole, bool send, bool capturing);
  void accumulate_outputs(const SumRequest& request);
  template <typename Launch>
  void launch_in(CudaStream* stream, bool capturing, const Launch& launch);
  void launch_all(const SumRequest& request, bool list_on_device, std::int64_t piece, CudaStream* stream);
  // Results may be stored only when all j have been read.
  bool finish_apart(const SumRequest& request) const { return residency_.outputs_touch_j && request.nj > 0; }
  std::int64_t size_memory(const SumRequest& request, bool list, CudaStream* stream, bool capturing);
  CudaDevicePointer send_list(const SumRequest& request, CudaStream* stream);
  void launch_pieces(const SumRequest& request, CudaDevicePointer list, std::int64_t piece, bool first, bool last,
                     std::int64_t nj, CudaStream* stream);
  void begin_in(CudaStream* stream);
  void end_in(CudaStream* stream);
  void end_after_failure(CudaStream* stream) noexcept;
  void wait_for_work(Progress* progress = nullptr);

  const CudaKernel& kernel_;
  const CudaGpu& gpu_;
  CudaLauncher launcher_{kernel_};
  bool chosen_launch_ = false, searched_ = false;  // the latter: by the last run
  CudaLeftOut left_out_{gpu_};
  CudaBuffer tables_{gpu_};
  std::int64_t tables_number_ = 0;  // of those there; 0: none
  CudaSearch search_{kernel_, launcher_.arguments(), left_out_};
  CudaLists lists_{kernel_, launcher_.arguments(), left_out_, launcher_.pace()};
  CudaBuffer running_{gpu_}, list_{gpu_};
  // Of a sum in parts: where the first part's arrays were, and the i of a launch, by which running_ is laid out.
  bool parts_on_device_ = false;
  std::int64_t piece_of_parts_ = 0;
  CudaPinned pinned_list_{gpu_};
  CudaEventOwner list_sent_{gpu_};
  CudaStaging staging_{kernel_, launcher_, {&search_, &lists_}};

  std::uint64_t binding_ = 0;  // of residency_ and of the argument
  CudaResidency residency_;

  // The stream of the last run, and whether its work may still be under way.
  CudaStream* stream_ = nullptr;
  bool under_way_ = false, recorded_ = false;
  CudaEventOwner event_{gpu_};
};

}  // namespace nbcc
