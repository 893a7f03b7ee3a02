// Exclusions -> bytes on the GPU. Interface: CudaExclusions::send().
#include "runtime/cuda/launch/cuda_exclusions.h"

#include <vector>

namespace nbcc {
namespace {

// The layout of Exclusions in templates/cuda/frames/cuda_exclusions.cuh.in.
struct Entry {
  int first;
  unsigned near, next;
  int far_begin, far_count;
};

}  // namespace

bool CudaExclusions::send(const Exclusions& exclusions) {
  number_ = 0;
  std::vector<Entry> of;
  of.reserve(exclusions.of.size());
  for (const nbcc_exclusions& out : exclusions.of)
    of.push_back({int(out.first), unsigned(out.near), unsigned(out.near >> 32), int(out.far - exclusions.far.data()),
                  int(out.far_count)});
  const std::size_t bytes = of.size() * sizeof(Entry), far_bytes = exclusions.far.size() * sizeof(int);
  if (!bytes_.reallocate(bytes + far_bytes + 1)) return false;
  table_ = {bytes_.data(), bytes_.data() + bytes};
  if (bytes > 0) gpu_.send(table_.of, of.data(), bytes, nullptr);
  if (far_bytes > 0) gpu_.send(table_.far, exclusions.far.data(), far_bytes, nullptr);
  gpu_.synchronize(nullptr);
  number_ = exclusions.number;
  return true;
}

}  // namespace nbcc
