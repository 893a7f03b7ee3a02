// Arguments -> measurements. Entry point: run_program().
#include "bench/cuda/gpu_program.h"

#include <fmt/core.h>

#include <cstdlib>

namespace nbcc::bench {

int run_program(const GpuProgram& program, int count, char** values) {
  try {
    std::string only;
    int rounds = program.rounds;
    for (int k = 1; k < count; ++k) {
      const std::string word = values[k];
      if (word == "--help") {
        fmt::print("usage: {}\n", program.usage);
        return 0;
      }
      if (word == "--rounds" && k + 1 < count)
        rounds = std::atoi(values[++k]);
      else
        only = word;
    }
    const Gpu gpu(false);
    const CudaContextGuard guard(gpu.gpu);
    program.measure(gpu, only, rounds);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}

}  // namespace nbcc::bench
