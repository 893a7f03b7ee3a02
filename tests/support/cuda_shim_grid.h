// A shared object made by the shim's compiler, and the grids of its kernels.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda/driver/cuda_driver.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/fibres.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {

struct CudaFunction {
  std::string name;
  const CudaModule* module;
  void (*call)(void** arguments);
  int (*size)(int argument);      // -1 behind the last
  int (*bounds)();                // the threads of __launch_bounds__, 0: not said
  int dynamic_shared = 48 << 10;  // bytes that a launch may ask for
};

// The shim's; nobody else defines what a module is.
struct CudaModule {
  CudaModule() = default;
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule();
  // What it was made of is no shared object of the shim's: false.
  bool open(std::string_view object);
  CudaFunction* find(const char* name);  // null: there is none

  struct Index {
    unsigned x, y, z;
  };
  Index *thread = nullptr, *block = nullptr, *threads = nullptr, *blocks = nullptr;  // the text's variables
  void (**barrier)(int line) = nullptr;
  void (**warp_barrier)(int line) = nullptr;
  void (**wait)() = nullptr;  // for earlier launches
  char *shared_begin = nullptr, *shared_end = nullptr;
  int device = 0;
  std::vector<std::unique_ptr<CudaFunction>> functions;

 private:
  void* handle_ = nullptr;
  test::ScratchFolder folder_;
};

}  // namespace nbcc

namespace nbcc::test {

struct ShimLaunch {
  const CudaFunction* function;
  std::array<unsigned, 3> blocks, threads;
  std::vector<std::vector<std::byte>> arguments;  // copies, as the driver takes them
  bool early;                                     // before what stands before it in the stream is done
};

// Runs every thread of every block. A failure as a sentence, or ""; after one, no further block is run. What stands
// before an early launch, `earlier`, is done when the first of its threads waits for it; none doing so is a failure.
std::string run_grid(Fibres& fibres, const ShimLaunch& launch, ShimOrder block_order, ShimOrder thread_order,
                     const std::function<void()>& earlier);

}  // namespace nbcc::test
