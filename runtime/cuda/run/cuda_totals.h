// Totals whose values of i are on a GPU (templates/cuda/frames/cuda_totals.cu.in). If the other arrays of a run are on
// the host, so are its results, and the steps of the host (runtime/sum/run/totals.h) reduce them. Tested by
// tests/numeric/totals_test.cpp.
#pragma once
#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/launch/cuda_index_list.h"
#include "runtime/cuda/program/cuda_kernel.h"
#include "runtime/sum/run/totals.h"
#include "templates/cuda/frames/cuda_total_data.h"

namespace nbcc {

class CudaSummation;

class CudaTotals final : public TotalSteps {
 public:
  // Both must outlive this object.
  CudaTotals(const CudaKernel& kernel, CudaSummation& sum);
  ~CudaTotals() override;
  double* reserve(const SumRequest& request, std::int64_t count) override;
  void fill(const TotalComponent& total, const SumRequest& request, std::int64_t count) override;
  // Returns before the work is done, unless a total's own array is on the host.
  void reduce(std::span<const TotalComponent> totals, const SumRequest& request) override;

 private:
  bool finds_arrays_here(const SumRequest& request) const;
  void reserve_buffer(CudaBuffer& buffer, std::size_t bytes, bool captured);
  void launch(total_data::Level level, std::int64_t groups, std::int64_t components, const SumRequest& request) const;
  void reduce_on_host(std::span<const TotalComponent> totals, const SumRequest& request);
  void reduce_field(std::span<const TotalComponent> field, const SumRequest& request, CudaDevicePointer list,
                    CudaDevicePointer to);

  const CudaKernel& kernel_;
  const CudaGpu& gpu_;
  CudaSummation& summation_;
  HostTotals on_host_;
  bool here_ = false;  // the values of the current run are on the GPU
  const CudaProgram* program_ = nullptr;
  CudaBuffer values_{gpu_}, partials_{gpu_}, for_host_{gpu_};  // for_host_: totals whose own arrays are on the host
  CudaIndexList list_{gpu_};
};

}  // namespace nbcc
