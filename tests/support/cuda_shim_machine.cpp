// The driver's functions for devices, contexts, memory and modules. Entry point: ShimMachine. Streams, events and what
// is given to them are in cuda_shim_streams.cpp.
#include "tests/support/cuda_shim_machine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "tests/support/cuda_shim_image.h"

namespace nbcc::test {
namespace {

struct ErrorText {
  CudaResult error;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {kShimInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kCudaOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kCudaNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kShimInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kShimInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {kShimInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kShimInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kShimNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kCudaNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {kShimLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {kShimCaptureForbids, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
};

CudaResult describe(CudaResult error, const char** text, const char* ErrorText::* member) {
  const auto* const found =
      std::find_if(std::begin(kErrors), std::end(kErrors), [&](const ErrorText& e) { return e.error == error; });
  *text = found == std::end(kErrors) ? nullptr : found->*member;
  return *text ? kCudaSuccess : kShimInvalidValue;
}

// Of this thread. Emptied by who makes a new machine: the pointers of an old one are of no use.
thread_local std::vector<CudaContext*> context_stack;
thread_local std::uint64_t machine_of_stack = 0;

std::uint64_t next_number() {
  static std::uint64_t number = 0;
  return ++number;
}

void* pointer_of(CudaDevicePointer pointer) { return reinterpret_cast<void*>(pointer); }

}  // namespace

ShimMachine::ShimMachine() : number_(next_number()) {
  for (int d = 0; d < kShimDevices; ++d) {
    contexts_[d].device = d;
    default_streams_[d].device = d;
  }
}

ShimMachine::~ShimMachine() = default;

// ---- what tests ask of it
// --------------------------------------------------------------------------------------------

CudaResult ShimMachine::begin(std::string_view function) {
  if (machine_of_stack != number_) context_stack.clear(), machine_of_stack = number_;
  const std::string name(function);
  ++calls[name];
  const int number = ++all_calls[name];
  const auto plan = plans.find(name);
  if (plan == plans.end() || number < plan->second.from) return kCudaSuccess;
  const CudaResult result = plan->second.result;
  if (!plan->second.all) plans.erase(plan);
  return result;
}

CudaResult ShimMachine::fail(const std::string& sentence, CudaResult result) {
  if (!sentence.empty()) failures.push_back(sentence);
  return result;
}

void ShimMachine::find_leaks() {
  drain_all();
  fail(memory.check_margins(), 0);
  fail(memory.leaks(), 0);
  const auto left = [&](const char* what, std::size_t count) {
    if (count) failures.push_back(fmt::format("{} {} left", count, what));
  };
  left("streams", streams_.size());
  left("events", events_.size());
  left("modules", modules_.size());
  for (const CudaContext& context : contexts_) left("retains of a primary context", std::size_t(context.retained));
  if (pushed_) failures.push_back(fmt::format("contexts were pushed {} times more often than popped", pushed_));
}

int ShimMachine::in_flight() const {
  const auto of = [](const CudaStream& stream) {
    return int(std::ranges::count_if(stream.waiting, [](const ShimWork& work) { return !work.marks; }));
  };
  int count = 0;
  for (const CudaStream& stream : default_streams_) count += of(stream);
  for (const auto& stream : streams_) count += of(*stream);
  return count;
}

int ShimMachine::held() const { return int(streams_.size() + events_.size() + memory.blocks()); }

// ---- driver and devices
// ----------------------------------------------------------------------------------------------

CudaResult ShimMachine::init(unsigned) { return devices ? kCudaSuccess : kCudaNoDevice; }
CudaResult ShimMachine::driver_get_version(int* value) { return *value = version, kCudaSuccess; }
CudaResult ShimMachine::get_error_name(CudaResult error, const char** text) {
  return describe(error, text, &ErrorText::name);
}
CudaResult ShimMachine::get_error_string(CudaResult error, const char** text) {
  return describe(error, text, &ErrorText::text);
}

CudaResult ShimMachine::device_get_count(int* count) { return *count = devices, kCudaSuccess; }
CudaResult ShimMachine::device_get(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= devices) return kShimInvalidDevice;
  return *device = ordinal, kCudaSuccess;
}
CudaResult ShimMachine::device_get_name(char* name, int length, int device) {
  if (device < 0 || device >= devices || length < 1) return kShimInvalidDevice;
  const std::size_t taken = kind.name.copy(name, std::size_t(length - 1));
  name[taken] = 0;
  return kCudaSuccess;
}
CudaResult ShimMachine::device_get_attribute(int* value, int attribute, int device) {
  if (device < 0 || device >= devices) return kShimInvalidDevice;
  const std::map<int, int> values{{kCudaClockKilohertz, kind.clock_kilohertz},
                                  {kCudaMultiprocessors, kind.multiprocessors},
                                  {kCudaMajor, kind.major},
                                  {kCudaMinor, kind.minor},
                                  {kCudaSharedPerMultiprocessor, kind.shared_per_multiprocessor},
                                  {kCudaRegistersPerMultiprocessor, kind.registers_per_multiprocessor},
                                  {kCudaThreadsPerMultiprocessor, kind.threads_per_multiprocessor},
                                  {kCudaSingleToDoubleRatio, kind.float_to_double},
                                  {kCudaReservedSharedPerBlock, kind.reserved_shared_per_block}};
  const auto found = values.find(attribute);
  if (found == values.end()) return kShimInvalidValue;
  return *value = found->second, kCudaSuccess;
}
CudaResult ShimMachine::device_total_mem(std::size_t* bytes, int device) {
  if (device < 0 || device >= devices) return kShimInvalidDevice;
  return *bytes = kind.memory, kCudaSuccess;
}

// ---- contexts
// --------------------------------------------------------------------------------------------------------

CudaResult ShimMachine::device_primary_ctx_retain(CudaContext** context, int device) {
  if (device < 0 || device >= devices) return kShimInvalidDevice;
  *context = &contexts_[device];
  ++contexts_[device].retained;
  return kCudaSuccess;
}

CudaResult ShimMachine::device_primary_ctx_release(int device) {
  if (device < 0 || device >= devices) return kShimInvalidDevice;
  if (contexts_[device].retained == 0)
    return fail(fmt::format("the primary context of device {} is released, but nobody holds it", device),
                kShimInvalidContext);
  --contexts_[device].retained;
  return kCudaSuccess;
}

CudaResult ShimMachine::ctx_push_current(CudaContext* context) {
  const bool mine =
      std::any_of(std::begin(contexts_), std::end(contexts_), [&](CudaContext& c) { return &c == context; });
  if (!mine || context->retained == 0) return fail("a context is pushed that nobody holds", kShimInvalidContext);
  context_stack.push_back(context);
  ++pushed_;
  return kCudaSuccess;
}

CudaResult ShimMachine::ctx_pop_current(CudaContext** context) {
  if (context_stack.empty()) return fail("a context is popped, but none is there", kShimInvalidContext);
  if (context) *context = context_stack.back();
  context_stack.pop_back();
  --pushed_;
  return kCudaSuccess;
}

CudaResult ShimMachine::ctx_get_current(CudaContext** context) {
  *context = context_stack.empty() ? nullptr : context_stack.back();
  return kCudaSuccess;
}

CudaContext* ShimMachine::current() {
  CudaContext* const context = context_stack.empty() ? nullptr : context_stack.back();
  if (context && context->retained) return context;
  fail(context ? "a call in a context that was released" : "a call without a context", 0);
  return nullptr;
}

CudaResult ShimMachine::device_can_access_peer(int* can, int device, int peer) {
  if (std::min(device, peer) < 0 || std::max(device, peer) >= devices) return kShimInvalidDevice;
  return *can = linked && device != peer ? 1 : 0, kCudaSuccess;
}

CudaResult ShimMachine::ctx_enable_peer_access(CudaContext* peer, unsigned) {
  const CudaContext* const context = current();
  if (!context) return kShimInvalidContext;
  if (!linked || peer == context || peer->retained == 0) return kShimInvalidContext;
  return peers_.insert({context, peer}).second ? kCudaSuccess : kCudaPeerAccessAlready;
}

// ---- memory
// ----------------------------------------------------------------------------------------------------------

CudaResult ShimMachine::mem_get_info(std::size_t* free, std::size_t* total) {
  const CudaContext* const context = current();
  if (!context) return kShimInvalidContext;
  *total = kind.memory;
  *free = kind.memory - std::min(kind.memory, memory.bytes_of_device(context->device));
  return kCudaSuccess;
}

CudaResult ShimMachine::allocate(ShimMemory::Kind kind_of_memory, CudaDevicePointer* pointer, std::size_t bytes) {
  std::size_t free = 0, total = 0;
  if (const CudaResult error = mem_get_info(&free, &total)) return error;
  if (capturing()) return kShimCaptureForbids;
  if (bytes == 0) return kShimInvalidValue;
  if (bytes > free) return kCudaOutOfMemory;
  *pointer = reinterpret_cast<CudaDevicePointer>(memory.allocate(kind_of_memory, current()->device, bytes));
  std::size_t all = 0;
  for (int device = 0; device < devices; ++device) all += memory.bytes_of_device(device);
  peak = std::max(peak, all);
  return kCudaSuccess;
}

CudaResult ShimMachine::mem_alloc(CudaDevicePointer* pointer, std::size_t bytes) {
  return allocate(ShimMemory::Kind::Device, pointer, bytes);
}

CudaResult ShimMachine::mem_alloc_managed(CudaDevicePointer* pointer, std::size_t bytes, unsigned flags) {
  return flags == kCudaGlobal ? allocate(ShimMemory::Kind::Managed, pointer, bytes) : kShimInvalidValue;
}

CudaResult ShimMachine::mem_free(CudaDevicePointer pointer) {
  if (!current()) return kShimInvalidContext;
  if (capturing()) return kShimCaptureForbids;
  if (!pointer) return kCudaSuccess;
  drain_all();
  const ShimMemory::Block* const block = memory.find(pointer_of(pointer));
  const bool managed = block && block->kind == ShimMemory::Kind::Managed;
  const std::string failure =
      memory.release(managed ? ShimMemory::Kind::Managed : ShimMemory::Kind::Device, pointer_of(pointer));
  return fail(failure, failure.empty() ? kCudaSuccess : kShimInvalidValue);
}

CudaResult ShimMachine::mem_host_alloc(void** pointer, std::size_t bytes, unsigned) {
  if (!current()) return kShimInvalidContext;
  if (capturing()) return kShimCaptureForbids;
  if (bytes == 0) return kShimInvalidValue;
  *pointer = memory.allocate(ShimMemory::Kind::Pinned, 0, bytes);
  return kCudaSuccess;
}

CudaResult ShimMachine::mem_free_host(void* pointer) {
  if (!current()) return kShimInvalidContext;
  if (capturing()) return kShimCaptureForbids;
  if (!pointer) return kCudaSuccess;
  drain_all();
  const std::string failure = memory.release(ShimMemory::Kind::Pinned, pointer);
  return fail(failure, failure.empty() ? kCudaSuccess : kShimInvalidValue);
}

CudaResult ShimMachine::pointer_get_attributes(unsigned count, int* attributes, void** values,
                                               CudaDevicePointer pointer) {
  if (!current()) return kShimInvalidContext;
  const ShimMemory::Block* const block = memory.find(pointer_of(pointer));
  const bool pinned = block && block->kind == ShimMemory::Kind::Pinned;
  for (unsigned k = 0; k < count; ++k) {
    if (attributes[k] == kCudaMemoryType) {
      *static_cast<unsigned*>(values[k]) = block ? (pinned ? kCudaHostMemory : kCudaDeviceMemory) : 0;
    } else if (attributes[k] == kCudaDeviceOrdinal) {
      *static_cast<int*>(values[k]) = block ? block->device : -2;
    } else if (attributes[k] == kCudaIsManaged) {
      *static_cast<bool*>(values[k]) = block && block->kind == ShimMemory::Kind::Managed;
    } else {
      return kShimInvalidValue;
    }
  }
  return kCudaSuccess;
}

// ---- modules
// ---------------------------------------------------------------------------------------------------------

CudaResult ShimMachine::module_load_data(CudaModule** module, const void* image) {
  const CudaContext* const context = current();
  if (!context) return kShimInvalidContext;
  const std::string_view object = shim_image_object(image);
  auto loaded = std::make_unique<CudaModule>();
  if (object.empty() || !loaded->open(object)) return kShimInvalidImage;
  loaded->device = context->device;
  *module = loaded.get();
  modules_.push_back(std::move(loaded));
  return kCudaSuccess;
}

CudaResult ShimMachine::module_unload(CudaModule* module) {
  if (!current()) return kShimInvalidContext;
  drain_all();
  if (!std::erase_if(modules_, [&](const auto& m) { return m.get() == module; }))
    return fail("a module is unloaded that is not loaded", kShimInvalidHandle);
  return kCudaSuccess;
}

CudaResult ShimMachine::module_get_function(CudaFunction** function, CudaModule* module, const char* name) {
  if (!current()) return kShimInvalidContext;
  if (std::none_of(modules_.begin(), modules_.end(), [&](const auto& m) { return m.get() == module; }))
    return fail("a function is asked of a module that is not loaded", kShimInvalidHandle);
  *function = module->find(name);
  return *function ? kCudaSuccess : kShimNotFound;
}

bool ShimMachine::is_loaded(const CudaFunction* function) {
  for (const auto& module : modules_) {
    for (const auto& one : module->functions) {
      if (one.get() == function) return true;
    }
  }
  return fail("a function of no loaded module is used", false);
}

CudaResult ShimMachine::func_set_attribute(CudaFunction* function, int attribute, int value) {
  if (!is_loaded(function)) return kShimInvalidHandle;
  if (attribute != kCudaMaxDynamicSharedBytes || value < 0 || value > kind.shared_per_multiprocessor)
    return kShimInvalidValue;
  function->dynamic_shared = value;
  return kCudaSuccess;
}

CudaResult ShimMachine::func_get_attribute(int* value, int attribute, CudaFunction* function) {
  if (!is_loaded(function)) return kShimInvalidHandle;
  if (attribute == kCudaRegisters) return *value = kind.registers, kCudaSuccess;
  if (attribute == kCudaPtxVersion) {
    return *value = kind.ptx_version ? kind.ptx_version : 10 * kind.major + kind.minor, kCudaSuccess;
  }
  if (attribute == kCudaLocalBytes) return *value = kind.local_bytes, kCudaSuccess;
  return kShimInvalidValue;
}

CudaResult ShimMachine::occupancy_max_active_blocks_per_multiprocessor(int* blocks, CudaFunction* function, int threads,
                                                                       std::size_t shared_bytes) {
  if (!is_loaded(function)) return kShimInvalidHandle;
  if (threads < 1) return kShimInvalidValue;
  const std::size_t shared = std::size_t(function->module->shared_end - function->module->shared_begin) + shared_bytes +
                             std::size_t(kind.reserved_shared_per_block);
  *blocks = std::min({kind.blocks_per_multiprocessor, kind.threads_per_multiprocessor / threads,
                      kind.registers_per_multiprocessor / (kind.registers * threads),
                      int(std::size_t(kind.shared_per_multiprocessor) / shared)});
  return kCudaSuccess;
}

}  // namespace nbcc::test
