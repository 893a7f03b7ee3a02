// LeftOut -> bytes on the GPU. Interface: CudaLeftOut::send().
#include "runtime/cuda/cuda_left_out.h"

#include <vector>

namespace nbcc {
namespace {

// The layout of LeftOut in templates/cuda_left_out.cuh.in.
struct Entry {
  int first;
  unsigned near, next;
  int far_begin, far_count;
};

}  // namespace

bool CudaLeftOut::send(const LeftOut& left_out) {
  number_ = 0;
  std::vector<Entry> of;
  of.reserve(left_out.of.size());
  for (const nbcc_left_out& out : left_out.of)
    of.push_back({int(out.first), unsigned(out.near), unsigned(out.near >> 32), int(out.far - left_out.far.data()),
                  int(out.far_count)});
  const std::size_t bytes = of.size() * sizeof(Entry), far_bytes = left_out.far.size() * sizeof(int);
  if (!bytes_.reallocate(bytes + far_bytes + 1)) return false;
  table_ = {bytes_.data(), bytes_.data() + bytes};
  if (bytes > 0) gpu_.send(table_.of, of.data(), bytes, nullptr);
  if (far_bytes > 0) gpu_.send(table_.far, left_out.far.data(), far_bytes, nullptr);
  gpu_.synchronize(nullptr);
  number_ = left_out.number;
  return true;
}

}  // namespace nbcc
