// Memory and launches of the radix sort (templates/cuda/far/cuda_radix_sort.cu.in). Interface: CudaRadixSort::sort().
#include "runtime/cuda/far/cuda_radix_sort.h"

#include <algorithm>

#include "runtime/error.h"
#include "runtime/round_up.h"
#include "templates/cuda/far/cuda_far_data.h"

namespace nbcc {
namespace {

using namespace far_data;

constexpr std::int64_t kCountBlocksPerMultiprocessor = 4, kSortBlocksPerMultiprocessor = 3;

template <typename T>
T* address(CudaDevicePointer at) {
  return reinterpret_cast<T*>(at);
}

}  // namespace

CudaRadixSort::CudaRadixSort(const CudaKernel& kernel)
    : program_(kernel, radix_sort_source()), gpu_(kernel.gpu()), counters_(gpu_), memory_(gpu_) {}

CudaRadixSort::Sorted CudaRadixSort::sort(CudaDevicePointer keys, CudaDevicePointer payloads, std::int64_t count,
                                          int first_bit, int last_bit, CudaStream* stream) {
  if (count <= 1 || first_bit >= last_bit) return {keys, payloads};
  if (count > kMaxCount) throw DeviceError("a far field has too many particles or list entries for one GPU");
  const CudaContextGuard guard(gpu_);
  const std::int64_t tiles = ceil_div(count, std::int64_t(kRadixTile));
  const std::int64_t key_bytes = round_up(count * 8, std::int64_t(256));
  const std::int64_t payload_bytes = payloads != 0 ? round_up(count * 4, std::int64_t(256)) : 0;
  const std::int64_t word_bytes = 2 * tiles * kRadixDigits * 4;
  if (counters_.bytes() == 0) clean_ = false;
  if (!counters_.reserve(kRadixCounters * 4) || !memory_.reserve(std::size_t(key_bytes + payload_bytes + word_bytes)))
    throw DeviceError("out of memory of the GPU: there is no room to sort the particles or lists of a far field");
  RadixSortArgument argument{};
  argument.keys[0] = address<unsigned long long>(keys);
  argument.keys[1] = address<unsigned long long>(memory_.data());
  argument.payloads[0] = address<unsigned>(payloads);
  argument.payloads[1] = payloads != 0 ? address<unsigned>(memory_.data() + std::uint64_t(key_bytes)) : nullptr;
  argument.count = count;
  argument.first_bit = first_bit;
  argument.last_bit = last_bit;
  argument.passes = (last_bit - first_bit + 7) / 8;
  argument.tiles = int(tiles);
  argument.counters = address<unsigned>(counters_.data());
  argument.words = address<unsigned>(memory_.data() + std::uint64_t(key_bytes + payload_bytes));
  if (!clean_)
    gpu_.require(gpu_.driver().memset_d32_async(counters_.data(), 0, kRadixCounters, stream),
                 "clearing memory of the GPU");
  clean_ = false;
  const auto launch = [&](const char* name, std::int64_t most_blocks) {
    program_.launch(name, std::min(tiles, most_blocks * gpu_.multiprocessors()), kRadixThreads, {&argument}, stream);
  };
  launch("nbcc_radix_count", kCountBlocksPerMultiprocessor);
  launch(payloads != 0 ? "nbcc_radix_sort_payloads" : "nbcc_radix_sort", kSortBlocksPerMultiprocessor);
  clean_ = true;
  const int last = argument.passes % 2;
  return {CudaDevicePointer(reinterpret_cast<std::uintptr_t>(argument.keys[last])),
          CudaDevicePointer(reinterpret_cast<std::uintptr_t>(argument.payloads[last]))};
}

}  // namespace nbcc
