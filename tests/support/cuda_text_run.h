// A CUDA text launched through the shim on an oracle's input, without the runtime: so that a test may choose the shape,
// the split, the layout of the arrays and the text itself. Its entry point is CudaTextRun.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/kernel_source.h"
#include "runtime/cuda/program/cuda_arguments.h"
#include "tests/support/cuda_shim.h"

namespace nbcc::test {

struct CudaTextChoice {
  unsigned parts = 1;                // of j, in one launch
  int chunks = 1;                    // of j, one launch each
  bool records = false;              // inputs as records of doubles; else columns of what the kernel computes with
  std::vector<std::int64_t> list{};  // the chosen i; empty: all
  bool onto = false;                 // outputs hold 1 before, and are combined with it
  Element output = Element::Double;  // Float or Double
};

class CudaTextRun {
 public:
  using Columns = std::vector<std::vector<double>>;  // [output component][chosen i]

  // Compiles source.first().source and loads it on the shim's first device. The shim must outlive this object.
  CudaTextRun(const CudaShim& shim, const KernelSource& source, const LaunchConfig& shape);
  CudaTextRun(const CudaTextRun&) = delete;
  CudaTextRun& operator=(const CudaTextRun&) = delete;
  ~CudaTextRun();

  // Throws std::runtime_error when the driver refuses something, or `arrived` is not left as it was. NaN where the
  // kernel writes nothing.
  Columns operator()(const OracleInput& input, const CudaTextChoice& choice = {});

 private:
  CudaDevicePointer allocate(std::size_t bytes);
  template <typename T>
  CudaDevicePointer upload(const std::vector<T>& values);
  std::vector<CudaView> views(Role role, const std::vector<std::vector<double>>& columns, bool records);
  void launch(std::vector<std::uint64_t> arguments, std::int64_t ni, unsigned parts);
  void free_blocks();

  const CudaDriver& driver_;
  KernelSource source_;
  LaunchConfig shape_;
  CudaModule* module_ = nullptr;
  CudaFunction* function_ = nullptr;
  std::vector<CudaDevicePointer> blocks_;
};

}  // namespace nbcc::test
