// A pipeline compiled for a GPU and bound to particles, as a user of nbcc.hpp would.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "bench/particles.h"
#include "runtime/api/nbcc.hpp"
#include "runtime/cuda/driver/cuda_memory.h"

namespace nbcc::bench {

enum class Arrays { OfDevice, OfHost };

class DeviceSum {
 public:
  // `gpu`: where the arrays stand, the device's own.
  DeviceSum(const CudaGpu& gpu, const Device& device, const std::string& pipeline, nbcc_precision precision);

  // Arrays in the working precision: float, or double for mixed and double.
  void bind(const Particles& particles, Arrays arrays);
  void run() { sum_.run(); }
  void wait() { sum_.wait(); }
  // Of the last run: [particle][outputs one after the other]; how many numbers a particle has.
  std::vector<double> results();
  int row() const { return row_; }

 private:
  template <typename T>
  void bind_as(const Particles& particles, Arrays arrays);
  template <typename T>
  void* place(std::vector<std::byte>& host, Arrays arrays);

  const CudaGpu& gpu_;
  bool in_double_;
  Pipeline pipeline_;
  std::vector<Field> fields_;
  Sum sum_;
  int row_ = 0;
  std::int64_t n_ = 0;
  Arrays arrays_ = Arrays::OfDevice;
  std::deque<std::vector<std::byte>> host_;            // per field
  std::deque<std::unique_ptr<CudaBuffer>> on_device_;  // per field
};

}  // namespace nbcc::bench
