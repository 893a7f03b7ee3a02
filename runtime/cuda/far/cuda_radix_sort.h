// Sorts 64-bit keys in GPU memory, with or without payloads of 32 bits, by a range of their bits. The sort is stable.
// Two launches; nothing waits for the GPU. Tested by tests/unit/runtime/cuda/far/cuda_radix_sort_test.cpp.
#pragma once
#include <cstdint>
#include <memory>

#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/far/cuda_far_program.h"

namespace nbcc {

class CudaRadixSort {
 public:
  static constexpr std::int64_t kMaxCount = (std::int64_t(1) << 30) - 1;

  // Compiles the code, or finds it in the cache, like `kernel`'s own.
  explicit CudaRadixSort(const CudaKernel& kernel);

  struct Sorted {
    CudaDevicePointer keys = 0, payloads = 0;
  };
  // Sorts `count` keys, uint64, and their payloads, uint32 (0: none), by bits [first_bit, last_bit). Returns where the
  // sorted arrays are: the given ones if the number of 8-bit digits is even, otherwise memory of this object, which the
  // next call overwrites. The other arrays have arbitrary contents then. Throws DeviceError if the GPU's memory does
  // not suffice. Calls that use one object must be ordered: by one stream, or by waiting.
  Sorted sort(CudaDevicePointer keys, CudaDevicePointer payloads, std::int64_t count, int first_bit, int last_bit,
              CudaStream* stream);
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  CudaFarProgram program_;
  const CudaGpu& gpu_;
  CudaBuffer counters_, memory_;
  bool clean_ = false;  // the counters are 0
};

}  // namespace nbcc
