// A buffer of OpenGL -> an address in a GPU's memory, by CUDA's driver. Entry point: SharedBuffer. Launches nothing,
// and copies nothing.
#include "examples/nbody/draw/interop.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "examples/nbody/draw/shared_library.h"

namespace examples {
namespace {

using Result = int;
struct Context;
struct Resource;
struct Stream;
constexpr unsigned kWriteDiscard = 2;  // what the buffer held is not wanted
constexpr int kAllDevices = 1, kMemoryType = 2, kDeviceMemory = 2;

// Of the CUDA driver, as in its cuda.h and cudaGL.h.
struct Cuda {
  SharedLibrary library{"libcuda.so.1", "libcuda.so"};
#define EXAMPLES_CUDA(member, name, ...) Result (*member)(__VA_ARGS__) = library.find<Result (*)(__VA_ARGS__)>(name)
  EXAMPLES_CUDA(init, "cuInit", unsigned);
  EXAMPLES_CUDA(get_error_name, "cuGetErrorName", Result, const char**);
  EXAMPLES_CUDA(device_get, "cuDeviceGet", int*, int);
  EXAMPLES_CUDA(retain, "cuDevicePrimaryCtxRetain", Context**, int);
  EXAMPLES_CUDA(release, "cuDevicePrimaryCtxRelease_v2", int);
  EXAMPLES_CUDA(push, "cuCtxPushCurrent_v2", Context*);
  EXAMPLES_CUDA(pop, "cuCtxPopCurrent_v2", Context**);
  EXAMPLES_CUDA(gl_devices, "cuGLGetDevices_v2", unsigned*, int*, unsigned, int);
  EXAMPLES_CUDA(register_buffer, "cuGraphicsGLRegisterBuffer", Resource**, unsigned, unsigned);
  EXAMPLES_CUDA(unregister, "cuGraphicsUnregisterResource", Resource*);
  EXAMPLES_CUDA(map, "cuGraphicsMapResources", unsigned, Resource**, Stream*);
  EXAMPLES_CUDA(unmap, "cuGraphicsUnmapResources", unsigned, Resource**, Stream*);
  EXAMPLES_CUDA(pointer, "cuGraphicsResourceGetMappedPointer_v2", std::uint64_t*, std::size_t*, Resource*);
  EXAMPLES_CUDA(attribute, "cuPointerGetAttribute", void*, int, std::uint64_t);
#undef EXAMPLES_CUDA

  bool is_whole() const {
    return init && get_error_name && device_get && retain && release && push && pop && gl_devices && register_buffer &&
           unregister && map && unmap && pointer && attribute;
  }
  void require(Result result, const char* what) const {
    if (result == 0) return;
    const char* name = nullptr;
    get_error_name(result, &name);
    throw std::runtime_error(std::string(what) + ": " + (name ? name : std::to_string(result)));
  }
};

const Cuda& cuda() {
  static const Cuda functions;
  return functions;
}

// The GPU's context is current in this scope, and the caller's again after it.
class Current {
 public:
  explicit Current(Context* context) { cuda().require(cuda().push(context), "cuCtxPushCurrent"); }
  ~Current() {
    Context* popped = nullptr;
    cuda().pop(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

}  // namespace

struct SharedBuffer::State {
  int device = 0;
  Context* context = nullptr;
  Resource* resource = nullptr;
  bool mapped = false;

  ~State() {
    if (!context) return;
    Context* popped = nullptr;
    if (resource && cuda().push(context) == 0) {
      if (mapped) cuda().unmap(1, &resource, nullptr);
      cuda().unregister(resource);
      cuda().pop(&popped);
    }
    cuda().release(device);
  }
};

SharedBuffer::SharedBuffer(const Gl& gl, unsigned buffer, int ordinal) : state_(std::make_unique<State>()) {
  const Cuda& driver = cuda();
  if (!driver.library.is_open()) throw std::runtime_error("there is no libcuda.so.1");
  if (!driver.is_whole()) throw std::runtime_error("this libcuda.so.1 shares no buffers with OpenGL");
  // The driver's answer to another vendor's context is not to be relied upon.
  const std::string_view vendor = reinterpret_cast<const char*>(gl.GetString(GL_VENDOR));
  if (!vendor.starts_with("NVIDIA")) {
    throw std::runtime_error("the GPU does not draw, but " +
                             std::string(reinterpret_cast<const char*>(gl.GetString(GL_RENDERER))));
  }
  driver.require(driver.init(0), "cuInit");
  driver.require(driver.device_get(&state_->device, ordinal), "cuDeviceGet");
  driver.require(driver.retain(&state_->context, state_->device), "cuDevicePrimaryCtxRetain");
  const Current current(state_->context);
  int drawing[16] = {};
  unsigned count = 0;
  driver.require(driver.gl_devices(&count, drawing, 16, kAllDevices), "cuGLGetDevices");
  if (std::find(drawing, drawing + count, state_->device) == drawing + count)
    throw std::runtime_error("another GPU draws");
  driver.require(driver.register_buffer(&state_->resource, buffer, kWriteDiscard), "cuGraphicsGLRegisterBuffer");
}

SharedBuffer::~SharedBuffer() = default;

void* SharedBuffer::map() {
  const Cuda& driver = cuda();
  const Current current(state_->context);
  driver.require(driver.map(1, &state_->resource, nullptr), "cuGraphicsMapResources");
  state_->mapped = true;
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  driver.require(driver.pointer(&address, &bytes, state_->resource), "cuGraphicsResourceGetMappedPointer");
  // nbcc asks the driver where an array lies; what the driver does not know would be taken for the host's.
  unsigned kind = 0;
  driver.require(driver.attribute(&kind, kMemoryType, address), "cuPointerGetAttribute");
  if (kind != kDeviceMemory) throw std::runtime_error("the buffer is not in the GPU's memory");
  return reinterpret_cast<void*>(address);
}

void SharedBuffer::unmap() {
  const Current current(state_->context);
  state_->mapped = false;
  cuda().require(cuda().unmap(1, &state_->resource, nullptr), "cuGraphicsUnmapResources");
}

}  // namespace examples
