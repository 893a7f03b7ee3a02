// The state behind the shim's driver functions, which are its members of the same names; arguments and results are the
// driver's. cuda_shim_driver.cpp makes the table of them.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda/driver/cuda_driver.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/cuda_shim_grid.h"
#include "tests/support/cuda_shim_memory.h"
#include "tests/support/fibres.h"

namespace nbcc {

struct CudaContext {
  int device = 0;
  int retained = 0;
};

// For a stream. Exactly one of `work` and `launch`.
struct ShimWork {
  std::function<CudaResult()> work;
  std::shared_ptr<const test::ShimLaunch> launch;
  bool marks = false;  // records an event, which keeps no later launch from beginning early
};

struct CudaStream {
  int device = 0;
  bool blocking = false;  // takes turns with the default stream
  bool capturing = false;
  CudaStream* origin = nullptr;  // of a capture that this stream has joined by waiting for an event of it
  std::deque<ShimWork> waiting;
  std::vector<ShimWork> recorded;   // by a capture, of all streams that have joined it
  CudaResult error = kCudaSuccess;  // of work that was given earlier
};

struct CudaEvent {
  bool timed = true;
  CudaStream* stream = nullptr;   // where it was recorded last
  CudaStream* capture = nullptr;  // the origin of the capture in which it was recorded last
  std::uint64_t recorded = 0, reached = 0;
  std::chrono::steady_clock::time_point time;
};

}  // namespace nbcc

namespace nbcc::test {

constexpr CudaResult kShimInvalidValue = 1, kShimInvalidDevice = 101, kShimInvalidImage = 200,
                     kShimInvalidContext = 201, kShimInvalidHandle = 400, kShimNotFound = 500, kShimLaunchFailed = 719,
                     kShimCaptureIsolation = 905, kShimCaptureForbids = 900;

constexpr int kShimDevices = 8;

class ShimMachine {
 public:
  ShimMachine();
  ~ShimMachine();

  // ---- for CudaShim
  mutable std::recursive_mutex mutex;
  CudaShim::Device kind;
  int devices = 2;
  int version = 13000;
  ShimOrder block_order, thread_order;
  bool lazy = false, linked = true;
  bool allows_minus_one = false;
  std::map<std::string, int, std::less<>> calls;
  struct Plan {
    int from = 0;  // the number of the call, counted from the beginning
    bool all = false;
    CudaResult result = kCudaSuccess;
  };
  std::map<std::string, Plan, std::less<>> plans;
  std::map<std::string, int, std::less<>> all_calls;
  std::vector<std::string> failures;
  std::size_t peak = 0;
  std::vector<unsigned> last_launch;
  ShimMemory memory;

  // What a test has planned for this call of `function`, else success.
  CudaResult begin(std::string_view function);
  void find_leaks();
  int in_flight() const;
  int held() const;
  void begin_capture(CudaStream* stream);
  void end_capture(CudaStream* stream);
  void replay(CudaStream* stream);

  // ---- the driver's functions
  CudaResult init(unsigned flags);
  CudaResult driver_get_version(int* version);
  CudaResult get_error_name(CudaResult error, const char** text);
  CudaResult get_error_string(CudaResult error, const char** text);
  CudaResult device_get_count(int* count);
  CudaResult device_get(int* device, int ordinal);
  CudaResult device_get_name(char* name, int length, int device);
  CudaResult device_get_attribute(int* value, int attribute, int device);
  CudaResult device_total_mem(std::size_t* bytes, int device);
  CudaResult device_primary_ctx_retain(CudaContext** context, int device);
  CudaResult device_primary_ctx_release(int device);
  CudaResult ctx_push_current(CudaContext* context);
  CudaResult ctx_pop_current(CudaContext** context);
  CudaResult ctx_get_current(CudaContext** context);
  CudaResult device_can_access_peer(int* can, int device, int peer);
  CudaResult ctx_enable_peer_access(CudaContext* peer, unsigned flags);
  CudaResult mem_get_info(std::size_t* free, std::size_t* total);
  CudaResult mem_alloc(CudaDevicePointer* pointer, std::size_t bytes);
  CudaResult mem_alloc_managed(CudaDevicePointer* pointer, std::size_t bytes, unsigned flags);
  CudaResult mem_free(CudaDevicePointer pointer);
  CudaResult mem_host_alloc(void** pointer, std::size_t bytes, unsigned flags);
  CudaResult mem_free_host(void* pointer);
  CudaResult memcpy_htod_async(CudaDevicePointer to, const void* from, std::size_t bytes, CudaStream* stream);
  CudaResult memcpy_dtoh_async(void* to, CudaDevicePointer from, std::size_t bytes, CudaStream* stream);
  CudaResult memcpy_async(CudaDevicePointer to, CudaDevicePointer from, std::size_t bytes, CudaStream* stream);
  CudaResult memset_d32_async(CudaDevicePointer to, unsigned value, std::size_t count, CudaStream* stream);
  CudaResult pointer_get_attributes(unsigned count, int* attributes, void** values, CudaDevicePointer pointer);
  CudaResult stream_create(CudaStream** stream, unsigned flags);
  CudaResult stream_destroy(CudaStream* stream);
  CudaResult stream_synchronize(CudaStream* stream);
  CudaResult stream_wait_event(CudaStream* stream, CudaEvent* event, unsigned flags);
  CudaResult stream_is_capturing(CudaStream* stream, int* status);
  CudaResult event_create(CudaEvent** event, unsigned flags);
  CudaResult event_destroy(CudaEvent* event);
  CudaResult event_record(CudaEvent* event, CudaStream* stream);
  CudaResult event_synchronize(CudaEvent* event);
  CudaResult event_query(CudaEvent* event);
  CudaResult event_elapsed_time(float* milliseconds, CudaEvent* start, CudaEvent* end);
  CudaResult module_load_data(CudaModule** module, const void* image);
  CudaResult module_unload(CudaModule* module);
  CudaResult module_get_function(CudaFunction** function, CudaModule* module, const char* name);
  CudaResult func_get_attribute(int* value, int attribute, CudaFunction* function);
  CudaResult func_set_attribute(CudaFunction* function, int attribute, int value);
  CudaResult occupancy_max_active_blocks_per_multiprocessor(int* blocks, CudaFunction* function, int threads,
                                                            std::size_t shared_bytes);
  CudaResult launch_kernel(CudaFunction* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z, unsigned shared_bytes, CudaStream* stream,
                           void** arguments, void** extra);
  CudaResult launch_kernel_ex(const CudaLaunchConfig* config, CudaFunction* function, void** arguments, void** extra);

 private:
  const std::uint64_t number_;  // of this machine, from 1 on
  // Notes a failure of the test, unless the sentence is empty, and gives `result`.
  CudaResult fail(const std::string& sentence, CudaResult result);
  // These note a failure where there is no such thing. For null: the default stream of the current context.
  CudaContext* current();
  CudaStream* resolve(CudaStream* stream);
  bool is_event(const CudaEvent* event);
  bool is_loaded(const CudaFunction* function);

  CudaResult allocate(ShimMemory::Kind kind, CudaDevicePointer* pointer, std::size_t bytes);
  bool capturing() const;
  std::string check_host(const void* at, std::size_t bytes, const char* what) const;
  std::string check_device(const void* at, std::size_t bytes, const char* what) const;

  // Work for a stream: done at once, kept until someone waits, or recorded.
  CudaResult give(CudaStream* stream, bool at_once, std::function<CudaResult()> work);
  CudaResult give(CudaStream* stream, bool at_once, ShimWork work);
  CudaResult drain(CudaStream* stream);
  CudaResult do_next(CudaStream* stream);
  // A launch that may begin early goes ahead of as much before it as it may.
  CudaResult do_next_unordered(CudaStream* stream);
  void drain_all();
  void reach(CudaEvent* event, std::uint64_t number);
  CudaResult launch(const ShimLaunch& launch, Fibres& fibres, const std::function<void()>& earlier);
  CudaResult give_launch(const CudaLaunchConfig& config, bool early, CudaFunction* function, void** arguments,
                         void** extra);

  CudaContext contexts_[kShimDevices];
  CudaStream default_streams_[kShimDevices];
  std::vector<std::unique_ptr<CudaStream>> streams_;
  std::vector<std::unique_ptr<CudaEvent>> events_;
  std::vector<std::unique_ptr<CudaModule>> modules_;
  std::set<std::pair<const CudaContext*, const CudaContext*>> peers_;  // who reaches whose memory
  long pushed_ = 0;                                                    // of all threads, less those that were popped
  Fibres fibres_, fibres_of_earlier_;
};

}  // namespace nbcc::test
