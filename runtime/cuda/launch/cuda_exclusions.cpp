// Exclusions -> bytes on the GPU. Interface: CudaExclusions::send().
#include "runtime/cuda/launch/cuda_exclusions.h"

#include <vector>

namespace nbcc {

bool CudaExclusions::send(const Exclusions& exclusions) {
  number_ = 0;
  std::vector<list_data::Exclusions> of;
  of.reserve(exclusions.of.size());
  for (const nbcc_exclusions& out : exclusions.of)
    of.push_back({int(out.first), unsigned(out.near), unsigned(out.near >> 32), int(out.far - exclusions.far.data()),
                  int(out.far_count)});
  const std::size_t bytes = of.size() * sizeof(list_data::Exclusions), far_bytes = exclusions.far.size() * sizeof(int);
  if (!bytes_.reallocate(bytes + far_bytes + 1)) return false;
  const CudaDevicePointer far = bytes_.data() + bytes;
  if (bytes > 0) gpu_.send(bytes_.data(), of.data(), bytes, nullptr);
  if (far_bytes > 0) gpu_.send(far, exclusions.far.data(), far_bytes, nullptr);
  table_ = {gpu_pointer<const list_data::Exclusions>(bytes_.data()), gpu_pointer<const int>(far)};
  gpu_.synchronize(nullptr);
  number_ = exclusions.number;
  return true;
}

}  // namespace nbcc
