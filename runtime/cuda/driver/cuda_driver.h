// The functions of the CUDA driver that nbcc and its tests call, as a table of pointers. The table is filled at first
// use, so that one binary runs on machines with and without a GPU and builds without the toolkit. Tests fill their own
// table.
// Tested by tests/unit/runtime/cuda/driver/cuda_driver_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nbcc {

// The driver's opaque types under names of nbcc, and its constants, which are part of its ABI.
struct CudaContext;
struct CudaStream;
struct CudaEvent;
struct CudaModule;
struct CudaFunction;
using CudaDevicePointer = std::uint64_t;
using CudaResult = int;

constexpr CudaResult kCudaSuccess = 0, kCudaOutOfMemory = 2, kCudaNoDevice = 100, kCudaNotReady = 600,
                     kCudaPeerAccessAlready = 704;
constexpr int kCudaClockKilohertz = 13, kCudaMultiprocessors = 16, kCudaMajor = 75, kCudaMinor = 76,
              kCudaSharedPerMultiprocessor = 81, kCudaRegistersPerMultiprocessor = 82,
              kCudaThreadsPerMultiprocessor = 39, kCudaSingleToDoubleRatio = 87,
              kCudaReservedSharedPerBlock = 111;                                // cuDeviceGetAttribute
constexpr int kCudaMemoryType = 2, kCudaDeviceOrdinal = 9, kCudaIsManaged = 8;  // cuPointerGetAttributes
constexpr int kCudaLocalBytes = 3, kCudaRegisters = 4, kCudaPtxVersion = 5;     // cuFuncGetAttribute
constexpr int kCudaMaxDynamicSharedBytes = 8;                                   // cuFuncSetAttribute
constexpr unsigned kCudaHostMemory = 1, kCudaDeviceMemory = 2;                  // values of kCudaMemoryType
constexpr unsigned kCudaGlobal = 1;                                             // cuMemAllocManaged
constexpr unsigned kCudaNonBlocking = 1;                                        // cuStreamCreate
constexpr unsigned kCudaTiming = 0, kCudaNoTiming = 2;                          // cuEventCreate

// CUlaunchAttribute and CUlaunchConfig of cuLaunchKernelEx.
struct alignas(8) CudaLaunchAttribute {
  int id;
  int padding;
  union {
    int value;
    char room[64];
  };
};
struct CudaLaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  CudaStream* stream;
  CudaLaunchAttribute* attributes;
  unsigned attribute_count;
};
constexpr int kCudaProgrammaticStreamSerialization = 6;  // CudaLaunchAttribute::id

// A member has the name of the driver's function without `cu`, and its arguments.
struct CudaDriver {
  CudaResult (*init)(unsigned flags);
  CudaResult (*driver_get_version)(int* version);
  CudaResult (*get_error_name)(CudaResult error, const char** text);
  CudaResult (*get_error_string)(CudaResult error, const char** text);

  CudaResult (*device_get_count)(int* count);
  CudaResult (*device_get)(int* device, int ordinal);
  CudaResult (*device_get_name)(char* name, int length, int device);
  CudaResult (*device_get_attribute)(int* value, int attribute, int device);
  CudaResult (*device_total_mem)(std::size_t* bytes, int device);

  CudaResult (*device_primary_ctx_retain)(CudaContext** context, int device);
  CudaResult (*device_primary_ctx_release)(int device);
  CudaResult (*ctx_push_current)(CudaContext* context);
  CudaResult (*ctx_pop_current)(CudaContext** context);
  CudaResult (*ctx_get_current)(CudaContext** context);

  CudaResult (*device_can_access_peer)(int* can, int device, int peer);
  CudaResult (*ctx_enable_peer_access)(CudaContext* peer, unsigned flags);  // for the current context

  CudaResult (*mem_get_info)(std::size_t* free, std::size_t* total);
  CudaResult (*mem_alloc)(CudaDevicePointer* pointer, std::size_t bytes);
  CudaResult (*mem_alloc_managed)(CudaDevicePointer* pointer, std::size_t bytes, unsigned flags);
  CudaResult (*mem_free)(CudaDevicePointer pointer);  // from mem_alloc or mem_alloc_managed
  CudaResult (*mem_host_alloc)(void** pointer, std::size_t bytes, unsigned flags);
  CudaResult (*mem_free_host)(void* pointer);
  CudaResult (*memcpy_htod_async)(CudaDevicePointer to, const void* from, std::size_t bytes, CudaStream* stream);
  CudaResult (*memcpy_dtoh_async)(void* to, CudaDevicePointer from, std::size_t bytes, CudaStream* stream);
  CudaResult (*memset_d32_async)(CudaDevicePointer to, unsigned value, std::size_t count, CudaStream* stream);
  // Between any two addresses that the driver knows, on one GPU or two.
  CudaResult (*memcpy_async)(CudaDevicePointer to, CudaDevicePointer from, std::size_t bytes, CudaStream* stream);
  // Memory that the driver does not know is no error; its type is 0.
  CudaResult (*pointer_get_attributes)(unsigned count, int* attributes, void** values, CudaDevicePointer pointer);

  CudaResult (*stream_create)(CudaStream** stream, unsigned flags);
  CudaResult (*stream_destroy)(CudaStream* stream);
  CudaResult (*stream_synchronize)(CudaStream* stream);
  CudaResult (*stream_wait_event)(CudaStream* stream, CudaEvent* event, unsigned flags);
  CudaResult (*stream_is_capturing)(CudaStream* stream, int* status);  // 0: not captured
  CudaResult (*event_create)(CudaEvent** event, unsigned flags);
  CudaResult (*event_destroy)(CudaEvent* event);
  CudaResult (*event_record)(CudaEvent* event, CudaStream* stream);
  CudaResult (*event_synchronize)(CudaEvent* event);
  CudaResult (*event_query)(CudaEvent* event);
  CudaResult (*event_elapsed_time)(float* milliseconds, CudaEvent* start, CudaEvent* end);

  CudaResult (*module_load_data)(CudaModule** module, const void* image);
  CudaResult (*module_unload)(CudaModule* module);
  CudaResult (*module_get_function)(CudaFunction** function, CudaModule* module, const char* name);
  CudaResult (*func_get_attribute)(int* value, int attribute, CudaFunction* function);
  CudaResult (*func_set_attribute)(CudaFunction* function, int attribute, int value);
  CudaResult (*occupancy_max_active_blocks_per_multiprocessor)(int* blocks, CudaFunction* function, int threads,
                                                               std::size_t shared_bytes);
  CudaResult (*launch_kernel)(CudaFunction* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                              CudaStream* stream, void** arguments, void** extra);
  // Null in drivers older than CUDA 11.6.
  CudaResult (*launch_kernel_ex)(const CudaLaunchConfig* config, CudaFunction* function, void** arguments,
                                 void** extra);
};

// The driver of this machine, opened and initialised once. Throws DeviceError if there is no driver library (the
// message says where the loader searched for libcuda.so.1) or no GPU.
const CudaDriver& cuda_driver();

// Opens and initialises the first of these libraries that the loader finds. Every call opens it again.
CudaDriver open_cuda_driver(const std::vector<std::string>& libraries);

// Throws DeviceError "WHAT: CUDA_ERROR_NAME: description" unless `result` is success.
void check(const CudaDriver& driver, CudaResult result, const std::string& what);

}  // namespace nbcc
