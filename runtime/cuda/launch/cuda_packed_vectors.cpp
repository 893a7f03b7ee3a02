// Memory and the launch of nbcc_pack. Interface: CudaPackedVectors.
#include "runtime/cuda/launch/cuda_packed_vectors.h"

#include "runtime/round_up.h"

namespace nbcc {

namespace {
constexpr unsigned kThreads = 256;  // kPackThreads of the kernel
}  // namespace

std::int64_t CudaPackedVectors::bytes_for(std::int64_t ni, std::int64_t nj) const {
  const KernelSource::PackedVectors& vectors = kernel_.source.packed_vectors;
  return (ni + nj) * (vectors.row_bytes + vectors.value_bytes + vectors.facts_bytes);
}

product_data::Products CudaPackedVectors::argument(std::int64_t ni, std::int64_t nj) const {
  const KernelSource::PackedVectors& vectors = kernel_.source.packed_vectors;
  CudaDevicePointer next = memory_.data();
  const auto take = [&]<typename T>(T*& at, std::int64_t particles, int bytes) {
    at = gpu_pointer<T>(next);
    next += std::uint64_t(particles * bytes);
  };
  product_data::Products made{};
  take(made.of_i.rows, ni, vectors.row_bytes);
  take(made.of_j.rows, nj, vectors.row_bytes);
  take(made.of_i.values, ni, vectors.value_bytes);
  take(made.of_j.values, nj, vectors.value_bytes);
  take(made.of_i.facts, ni, vectors.facts_bytes);
  take(made.of_j.facts, nj, vectors.facts_bytes);
  return made;
}

void CudaPackedVectors::launch_pack(const CudaProgram& program, void* particles, const CudaPiece& piece,
                                    CudaStream* stream) {
  if (piece.nj == 0) return;  // the launch only stores
  if (program_ != &program) pack_ = program.find("nbcc_pack"), program_ = &program;
  product_data::Products products = argument(piece.ni, piece.nj);
  void* arguments[] = {particles, &products};
  const std::int64_t per_block = kernel_.source.packed_vectors.per_block;
  const std::int64_t blocks = ceil_div(piece.ni, per_block) + ceil_div(piece.nj, per_block);
  if (blocks > 0)
    launch_kernel(kernel_.gpu(), pack_, "nbcc_pack", unsigned(blocks), 1, kThreads, arguments, stream, false);
}

}  // namespace nbcc
