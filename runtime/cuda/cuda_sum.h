// A sum on a GPU. From arrays on the device a run is one launch in the caller's stream, without copies; arrays of the
// host pass through pinned memory in chunks (cuda_stage.h).
//
// The order in which terms join is fixed by the GPU, the kernel, ni and nj, so that results are equal bit for bit from
// run to run.
// Tested by tests/unit/cuda_sum_test.cpp.
#pragma once
#include <memory>
#include <vector>

#include "runtime/cuda/cuda_launch.h"
#include "runtime/cuda/cuda_places.h"
#include "runtime/cuda/cuda_stage.h"

namespace nbcc {

class CudaSummation final : public Summation {
 public:
  explicit CudaSummation(const CudaKernel& kernel);  // must outlive this object
  ~CudaSummation() override;
  void run(const SumRequest& request, AllPairs pairs) override;
  void wait() override;
  bool can_read(const std::int64_t* list) const override;
  void set_cut(const CudaTuning& cut) override { launcher_.set_cut(cut); }
  CudaTuning cut(std::int64_t ni, std::int64_t nj) override;

 private:
  void bind(const SumRequest& request);
  void run_on_device(const SumRequest& request, bool list_on_device, CudaStream* stream, bool capturing);
  void launch_all(const SumRequest& request, bool list_on_device, std::int64_t piece, CudaStream* stream);
  // Results may be stored only when all j have been read.
  bool finish_apart(const SumRequest& request) const { return places_.outputs_touch_j && request.nj > 0; }
  std::int64_t size_memory(std::int64_t ni, bool finish_apart, bool list, CudaStream* stream, bool capturing);
  CudaDevicePointer send_list(const SumRequest& request, CudaStream* stream);
  void launch_pieces(const SumRequest& request, CudaDevicePointer list, std::int64_t piece, bool first, bool last,
                     std::int64_t nj, CudaStream* stream);
  void begin_in(CudaStream* stream);
  void end_in(CudaStream* stream);
  void end_after_failure(CudaStream* stream) noexcept;
  void wait_for_work();

  const CudaKernel& kernel_;
  const CudaGpu& gpu_;
  CudaLauncher launcher_;
  CudaBuffer running_, list_;
  CudaPinned pinned_list_;
  CudaMark list_sent_;
  CudaStaging staging_;

  std::uint64_t binding_ = 0;  // of places_ and of the argument
  CudaPlaces places_;

  // The stream of the last run, and whether its work may still be under way.
  CudaStream* stream_ = nullptr;
  bool under_way_ = false, marked_ = false;
  CudaMark mark_;
};

}  // namespace nbcc
