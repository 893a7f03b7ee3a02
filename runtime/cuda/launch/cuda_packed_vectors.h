// The vectors that a kernel multiplies by matrix instructions, packed on the GPU by its nbcc_pack
// (templates/cuda/frames/cuda_products.cu.in). A kernel without such vectors needs no memory here. Tested by
// tests/numeric/matrix_units_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/program/cuda_arguments.h"
#include "runtime/cuda/program/cuda_kernel.h"
#include "templates/cuda/frames/cuda_product_data.h"

namespace nbcc {

class CudaPackedVectors {
 public:
  // The kernel must outlive this object.
  explicit CudaPackedVectors(const CudaKernel& kernel) : kernel_(kernel), memory_(kernel.gpu()) {}

  bool has_any() const { return kernel_.source.packed_vectors.row_bytes > 0; }
  // Memory for launches of up to ni i and nj j.
  std::int64_t bytes_for(std::int64_t ni, std::int64_t nj) const;
  bool has_room(std::int64_t ni, std::int64_t nj) const { return std::size_t(bytes_for(ni, nj)) <= memory_.bytes(); }
  [[nodiscard]] bool reserve(std::int64_t ni, std::int64_t nj) {
    return memory_.reserve(std::size_t(bytes_for(ni, nj)));
  }
  std::size_t bytes() const { return memory_.bytes(); }
  void release() { memory_.release(); }
  void retain_for_capture() { memory_.retain_for_capture(); }

  // The last argument of the kernels for a launch of so many particles, for which there must be room.
  product_data::Products argument(std::int64_t ni, std::int64_t nj) const;
  // `particles`: the first argument of nbcc_interact.
  void launch_pack(const CudaProgram& program, void* particles, const CudaPiece& piece, CudaStream* stream);

 private:
  const CudaKernel& kernel_;
  CudaBuffer memory_;                     // rows, then values, then facts; of i, then of j
  const CudaProgram* program_ = nullptr;  // that has pack_
  CudaFunction* pack_ = nullptr;
};

}  // namespace nbcc
