// A sum on a GPU. If the arrays are on the device, a run is one launch in the caller's stream, without copies; arrays
// on the host pass through pinned memory in chunks (cuda_stage.h). Sums over neighbours begin with a search
// (cuda_search.h).
//
// The order in which terms are added depends only on the GPU, the kernel, ni and nj, so results are bitwise equal from
// run to run.
// Tested by tests/unit/runtime/cuda/run/cuda_sum_test.cpp.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/cuda/launch/cuda_launch.h"
#include "runtime/cuda/methods/cuda_lists.h"
#include "runtime/cuda/methods/cuda_search.h"
#include "runtime/cuda/methods/cuda_symmetric.h"
#include "runtime/cuda/program/cuda_residency.h"
#include "runtime/cuda/run/cuda_stage.h"
#include "runtime/sum/run/device_copies.h"

namespace nbcc {

class CudaSummation final : public Summation {
 public:
  // The kernel must outlive this object.
  explicit CudaSummation(const CudaKernel& kernel);
  ~CudaSummation() override;
  std::span<const PairMethod> methods() const override { return methods_; }
  // For a search, or a symmetric sum, divided among GPUs. buffer_range(): where a share's results are in this GPU's
  // group-ordered output buffer (a symmetric sum: its slots). send_buffer_range(): copies this GPU's share to another
  // GPU's buffer. unpermute(): scatters the buffer into the caller's arrays (adds the slots) when it holds all shares.
  // `stream`: that of the last run; `capturing`: it is captured into a graph.
  CudaSearch::BufferRange buffer_range(const SumRequest::Share& share) const {
    return is_symmetric() ? symmetric_.buffer_range(share) : search_.buffer_range(share);
  }
  // Bytes of all shares' buffers.
  double buffer_bytes(const SumRequest& request) const {
    return is_symmetric() ? double(symmetric_.bytes_for(request))
                          : double(request.i_count) * double(kernel_.source.outputs) * 4;
  }
  void send_buffer_range(const CudaSearch::BufferRange& to, const SumRequest::Share& share, CudaStream* stream,
                         bool capturing);
  void unpermute(CudaStream* stream, bool capturing);
  // Later work of `stream` waits for the last run.
  void make_wait(CudaStream* stream);
  void fetch(void* to, const void* from, std::size_t bytes) const override;
  void put(void* to, const void* from, std::size_t bytes) const override;
  void wait(Progress* progress) override;
  bool can_read(const std::int64_t* list) const override;
  bool is_captured(void* stream) const override {
    const CudaContextGuard guard(gpu_);
    return gpu_.is_captured(static_cast<CudaStream*>(stream));
  }
  void set_launch(const LaunchConfig& overrides) override {
    launcher_.set_overrides(overrides);
    chosen_launch_ = overrides != LaunchConfig{};
  }
  LaunchConfig launch_for(std::int64_t ni, std::int64_t nj) override;
  SumStatistics statistics() const override;
  std::vector<std::shared_ptr<FarBackend>> far_backends(
      const Kernel& callers, Precision at_least, std::span<const int> orders) const override;  // cuda_far_backend.cpp
  std::unique_ptr<TotalSteps> total_steps() override;                                          // cuda_totals.cpp
  DeviceCopies* device_copies(std::span<const ArrayView> arrays) override;                     // cuda_device_copies.cpp
  void synchronize(void* stream) const override;
  // Enqueues work of `launch` in a stream after all earlier runs; later runs and wait() wait for it, too.
  void launch_after_runs(CudaStream* stream, bool capturing, const std::function<void()>& launch) {
    launch_in(stream, capturing, launch);
  }

 private:
  bool is_symmetric() const { return kernel_.source.first_reaction > 0; }
  PairMethod row(std::string_view name, CudaMethod* method);
  std::optional<Estimate> estimate_search(const SumRequest& request);
  bool leaves_memory(const SumRequest& request, const CudaMethod& method) const;
  DeviceWork work(const SumRequest& request, CudaMethod* method);
  // If `method` is null, launches sum over all pairs.
  void run(const SumRequest& request, CudaMethod* method);
  void run_with_histograms(const SumRequest& request, CudaMethod* method);  // cuda_histograms.cpp
  void run_for_histograms(const SumRequest& request, CudaMethod* method);
  void capture_histograms(const SumRequest& request, CudaMethod* method);
  void set_histograms(const SumRequest& request, std::size_t copies);
  void load_histogram_values();
  bool stores_rows(const SumRequest& request) const;
  void store_histogram(const SumRequest& request, std::size_t histogram, std::size_t copies,
                       CudaDevicePointer outside = 0);
  CudaRunContext begin(const SumRequest& request, const CudaMethod* method);
  void send_exclusions(const CudaRunContext& context);
  void send_tables(const CudaRunContext& context);
  void bind(const SumRequest& request);
  void run_all_pairs(const CudaRunContext& context, bool list_on_device);
  void run_method(const CudaRunContext& context, CudaMethod& method, bool list_on_device);
  void run_staged(const CudaRunContext& context, CudaMethod* method, bool list_on_device);
  void size_method(const CudaRunContext& context, CudaMethod& method, bool send);
  void accumulate_outputs(const SumRequest& request);
  void launch_in(CudaStream* stream, bool capturing, const std::function<void()>& launch);
  void launch_all(const CudaRunContext& context, bool list_on_device, std::int64_t piece);
  // True if results may be stored only when all j have been read, so that a separate launch stores them.
  bool stores_in_own_launch(const SumRequest& request) const { return residency_.outputs_touch_j && request.nj > 0; }
  std::int64_t max_i_per_launch() const;
  std::size_t accumulator_bytes(const SumRequest& request, bool kept) const;
  std::int64_t size_memory(const CudaRunContext& context, bool list);
  void launch_pieces(const CudaRunContext& context, CudaDevicePointer list, std::int64_t piece, bool first, bool last,
                     std::int64_t nj);
  void begin_in(CudaStream* stream);
  void end_in(CudaStream* stream);
  void end_after_failure(CudaStream* stream) noexcept;
  void wait_for_work(Progress* progress = nullptr);

  const CudaKernel& kernel_;
  const CudaGpu& gpu_;
  CudaExclusions exclusions_{gpu_};
  CudaLauncher launcher_{kernel_, exclusions_};
  bool chosen_launch_ = false;   // the caller has chosen a launch configuration, which applies to all pairs only
  bool searched_ = false;        // the last run was a search
  CudaBuffer histograms_{gpu_};  // HistogramWords::words of one run
  std::shared_ptr<const CudaKernel> histogram_values_;  // stores them without the host; null: not loaded
  bool has_no_histogram_values_ = false;                // it cannot be compiled
  CudaBuffer tables_{gpu_};
  std::int64_t tables_number_ = 0;  // Tables::number of the contents of tables_; 0: none
  CudaSearch search_{kernel_, launcher_.arguments(), exclusions_};
  CudaLists lists_{kernel_, launcher_.arguments(), exclusions_, launcher_.pace()};
  CudaSymmetric symmetric_{kernel_, launcher_.arguments(), launcher_.pace()};
  CudaBuffer accumulators_{gpu_};
  CudaIndexList list_{gpu_};
  std::unique_ptr<DeviceCopies> copies_;  // null: not asked for
  bool has_no_copies_ = false;            // their program cannot be compiled
  CudaStaging staging_{kernel_, launcher_, accumulators_, list_, {&search_, &lists_, &symmetric_}};

  std::uint64_t binding_ = 0;  // SumRequest::binding for which residency_ and the kernel argument are set
  CudaResidency residency_;

  // The stream of the last run; whether its work may be unfinished; whether event_ was recorded after it.
  CudaStream* stream_ = nullptr;
  bool under_way_ = false, recorded_ = false;
  CudaEventOwner event_{gpu_};

  std::vector<PairMethod> methods_;
};

}  // namespace nbcc
