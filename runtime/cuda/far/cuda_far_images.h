// The images of a periodic sum on a GPU: as runtime/far/image_sums.h, and the moves of particles into the
// cell. templates/cuda/far/cuda_far_images.cu.in has the kernels. Everything is launched in a stream. Tested by
// tests/numeric/cuda_periodic_sum_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/far/cuda_far_program.h"
#include "runtime/far/far_images.h"
#include "runtime/far/far_sums.h"
#include "templates/cuda/far/cuda_far_data.h"

namespace nbcc {

class CudaFarImages {
 public:
  explicit CudaFarImages(const CudaKernel& any);

  // positions[particle][axis]. Called for the positions of i, then for the positions of j. Waits.
  void widen(std::span<OpenExtent> extents, std::span<const CellVector> directions, const double* positions,
             std::int64_t count, int axes, CudaStream* stream);
  // A particle that is too many periods away is an error of collect().
  void move_to_cell(const PeriodicCell& cell, double* positions, std::int64_t count, CudaStream* stream);
  // positions - shift, until the next call.
  double* shifted(const double* positions, std::int64_t count, const CellVector& shift, CudaStream* stream);
  // Waits. Throws UsageError if the weights have no periodic sum.
  void collect(std::shared_ptr<const FarOperator> through, const double* positions, std::int64_t count,
               const FarArray& weights, std::span<const std::string> weight_names, CudaStream* stream);
  // Totals of `count` i, `chosen` or all.
  struct Totals {
    const double* positions = nullptr;
    const long long* chosen = nullptr;
    std::int64_t count = 0;
    FarArray factors, totals;
  };
  void add(const Totals& of, std::span<const FarPart> parts, CudaStream* stream);
  std::int64_t bytes() const;

 private:
  const CudaGpu& gpu() const { return program_.gpu(); }
  std::int64_t blocks_for(std::int64_t particles) const;
  void report_too_far(const PeriodicCell& cell, CudaStream* stream);
  void send(const FarOperator& through, CudaStream* stream);

  CudaFarProgram program_;
  std::shared_ptr<const FarOperator> through_;  // what matrix_ and coefficients_ have
  CudaBuffer extents_, too_far_, shifted_, coefficients_, matrix_, components_, parts_, all_, at_points_, output_parts_;
  far_data::ImageGrid grid_{};
  int axes_ = 0;
  std::vector<std::pair<const double*, std::int64_t>> moved_;  // positions and numbers of particles since collect()
  std::vector<double> constant_;                               // [sum]
};

}  // namespace nbcc
