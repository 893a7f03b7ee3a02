// A generated kernel against all hand-written ones of its interaction, on the same particles in the same process.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/cuda/device_sum.h"
#include "bench/cuda/gpu_timer.h"
#include "bench/cuda/hand_sum.h"
#include "bench/report.h"

namespace nbcc::bench {

struct Gpu {
  // The first one. `tuned`: with the user's cache, and so with what `nbcc tune` has measured there. Throws DeviceError.
  explicit Gpu(bool tuned);

  CudaGpu gpu;
  HandCompiler compiler;
  GpuTimer timer;
  Device device;
};

class Contest {
 public:
  // Compiles everything. Throws std::runtime_error if a hand-written kernel does not compile.
  Contest(const Gpu& gpu, const std::string& pipeline, nbcc_precision precision);

  // One row per family. For each: its fastest shape and number of parts by a rough trial of all, then the few fastest
  // alternately with the generated kernel. A kernel whose results differ from the generated ones by more than
  // they may is not timed but said to be wrong.
  std::vector<Row> rows(const Particles& particles, int rounds);

  bool all_agreed() const { return agreed_; }

 private:
  struct Entry {
    const HandSum* sum;
    int parts;
    double seconds, difference;
  };
  std::vector<Entry> fastest(std::size_t family, const HandArrays& arrays, const std::vector<double>& expected);
  double tolerance(std::int64_t n) const;

  const Gpu& gpu_;
  std::string pipeline_;
  nbcc_precision precision_;
  DeviceSum generated_;
  std::vector<HandFamily> families_;
  std::vector<std::unique_ptr<const HandProgram>> add_parts_;  // of each family
  std::vector<std::vector<std::unique_ptr<HandSum>>> sums_;    // of each family, in each shape
  bool agreed_ = true;
};

// The largest, over the columns, of rms(a - b) / rms(b); NaN if there is one.
double rms_difference(const std::vector<double>& a, int row_of_a, const std::vector<double>& b, int row_of_b);

}  // namespace nbcc::bench
