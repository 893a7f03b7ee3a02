// A machine with GPUs, made of this CPU: a table of driver functions and a compiler that together run the same CUDA
// text, so that templates, launch arithmetic and the runtime's use of the driver are tested where there is no GPU.
//
// Threads of a block are fibres that change places only where the block or their warp meets, blocks run one after the
// other, both in an order that a test chooses. All memory begins as NaN: device memory, pinned memory, __shared__
// memory of every block. What no correct program does is a failure of the test: copies and writes beyond a block's end,
// copies into pinned memory of doubles that nobody wrote, freeing what is not there or freeing it twice, leaks, calls
// without a context, contexts pushed and not popped, a barrier that some threads of a block miss, a kernel that is
// launched early and does not wait for earlier launches. What a driver refuses is refused with its number.
//
//   CudaShim shim;                                 // first of all, so that it is destroyed last
//   shim.fail("mem_alloc", 3, kCudaOutOfMemory);   // the third from now on
//   ... shim.driver(), shim.compiler() ...
//   EXPECT_EQ(shim.calls("launch_kernel_ex"), 1);
//
// Not seen: races between blocks, and what a warp does in lockstep. Textures are not there. Dynamic
// shared memory is static in the text (NBCC_DYNAMIC_SHARED of cuda_products.cu.in); only its size is checked.
// Reads beyond the end of a block give NaN and are not reported. Tested by tests/unit/support/cuda_shim*_test.cpp and,
// on the text of every pipeline, by tests/numeric/cuda_shim_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/cuda/driver/cuda_driver.h"

namespace nbcc::test {

// The order in which blocks of a grid, or threads of a block between two barriers, take their turns.
struct ShimOrder {
  enum class Kind : std::uint8_t { Forward, Backward, Shuffled };
  Kind kind = Kind::Forward;
  std::uint64_t seed = 0;  // of Shuffled
};

class ShimMachine;

class CudaShim {
 public:
  // One at a time in a process.
  CudaShim();
  CudaShim(const CudaShim&) = delete;
  CudaShim& operator=(const CudaShim&) = delete;
  // Reports failures that were not taken, and leaks, to GoogleTest.
  ~CudaShim();

  // CudaDriver's names of all functions.
  static std::span<const std::string_view> functions();

  const CudaDriver& driver() const;
  std::shared_ptr<const CudaCompiler> compiler() const;

  // Of the machine; to be changed before its devices are opened. Two devices alike.
  struct Device {
    std::string name = "Shim GPU";
    std::size_t memory = std::size_t(1) << 30;  // bytes; an allocation beyond it is out of memory
    int major = 9, minor = 0;
    int multiprocessors = 4;
    int clock_kilohertz = 1'500'000;  // which nothing but the runtime's predictions goes by
    int shared_per_multiprocessor = 228 << 10, reserved_shared_per_block = 1 << 10;
    int registers_per_multiprocessor = 65536, threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
    int float_to_double = 2;              // ratio of the rates
    int registers = 64, local_bytes = 0;  // of every function
    int ptx_version = 0;                  // of every function, 80 for compute_80; 0: the device's own
  };
  // The limits of a GPU of compute capability 7.5, the smallest that is supported.
  static Device small_device() {
    Device device;
    device.name = "Small shim GPU";
    device.major = 7, device.minor = 5;
    device.multiprocessors = 2;
    device.shared_per_multiprocessor = 64 << 10, device.reserved_shared_per_block = 0;
    device.threads_per_multiprocessor = 1024, device.blocks_per_multiprocessor = 16;
    device.float_to_double = 32;
    return device;
  }
  void set_device(const Device& device);
  void set_device_count(int count);  // at most 8; 0: cuDeviceGetCount finds none
  void set_linked(bool linked);      // whether GPUs reach each other's memory; they do
  void allow_minus_one();            // results may have the index -1, which looks like memory that was never written
  void set_driver_version(int version);

  void set_block_order(ShimOrder order);
  void set_thread_order(ShimOrder order);

  // Copies, memsets and launches are done when something waits for them (a synchronisation, a query, a free), no
  // sooner: who forgets to wait, or to let one stream wait for another, reads what was there before. Copies from and to
  // memory that is not pinned are done at once, as the driver may. Of two launches in a row, or with records of
  // events between them, the second, if it may begin early, runs up to where it waits before the first does anything
  // (when a synchronisation does all that waits, not when an event is waited for). Off at first: everything is done at
  // once.
  void set_lazy(bool lazy);

  // Work given to `stream` is recorded, as under cuStreamBeginCapture; what a capture forbids is refused (900).
  void begin_capture(CudaStream* stream);
  void end_capture(CudaStream* stream);
  // Does everything recorded since begin_capture(), in order; any number of times.
  void replay(CudaStream* stream);

  // Calls of a function since the beginning or the last forget_calls(); `function` is CudaDriver's name of it. Those
  // that failed count as well.
  int calls(std::string_view function) const;
  void forget_calls();
  // Lets the k-th call of `function` from now on (1: the next) return `result` without doing anything; those after it
  // are done again.
  void fail(std::string_view function, int k, CudaResult result);
  // ... and every later call as well, until succeed() is called.
  void fail_from(std::string_view function, int k, CudaResult result);
  void succeed(std::string_view function);

  // Bytes of device memory that are allocated now, of all devices, and the most since the beginning.
  std::size_t allocated() const;
  std::size_t peak_allocated() const;
  // Copies, memsets and launches that were given to streams and are not done; lazy only.
  int in_flight() const;
  // Streams, events and blocks of memory, pinned or of a device, that are there now.
  int held() const;
  // The dimensions of the last launch: grid x, y, z, block x, y, z.
  std::vector<unsigned> last_launch() const;

  // Failures so far, one sentence each; they are then forgotten, so that the destructor does not report them.
  std::vector<std::string> take_failures();

 private:
  std::unique_ptr<ShimMachine> machine_;
};

// Text -> an image that the shim's module_load_data takes. Texts that were compiled before in this process are not
// compiled again. Knows sm_75, sm_80, sm_90 and sm_100. Throws DeviceError where clang++-19 is missing.
std::shared_ptr<const CudaCompiler> make_shim_compiler();
// How many texts make_shim_compiler()'s compilers were asked for, and how many they really compiled, in this process.
int shim_compile_requests();
int shim_compilations();

}  // namespace nbcc::test
