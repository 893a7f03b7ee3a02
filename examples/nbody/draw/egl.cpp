// EGL -> a context without a window. Entry point: open_egl(). Opened at run time; no display server is asked.
#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "examples/nbody/draw/offscreen.h"
#include "examples/nbody/draw/shared_library.h"

namespace examples {
namespace {

constexpr EGLint kCudaDevice = 0x323A;  // EGL_CUDA_DEVICE_NV

// Functions of the library by their own names.
struct Egl {
  SharedLibrary library{"libEGL.so.1"};
  decltype(&eglGetProcAddress) get_proc_address = library.find<decltype(&eglGetProcAddress)>("eglGetProcAddress");
  decltype(&eglGetDisplay) get_display = library.find<decltype(&eglGetDisplay)>("eglGetDisplay");
  decltype(&eglInitialize) initialize = library.find<decltype(&eglInitialize)>("eglInitialize");
  decltype(&eglTerminate) terminate = library.find<decltype(&eglTerminate)>("eglTerminate");
  decltype(&eglQueryString) query_string = library.find<decltype(&eglQueryString)>("eglQueryString");
  decltype(&eglBindAPI) bind_api = library.find<decltype(&eglBindAPI)>("eglBindAPI");
  decltype(&eglChooseConfig) choose_config = library.find<decltype(&eglChooseConfig)>("eglChooseConfig");
  decltype(&eglCreateContext) create_context = library.find<decltype(&eglCreateContext)>("eglCreateContext");
  decltype(&eglDestroyContext) destroy_context = library.find<decltype(&eglDestroyContext)>("eglDestroyContext");
  decltype(&eglCreatePbufferSurface) create_surface =
      library.find<decltype(&eglCreatePbufferSurface)>("eglCreatePbufferSurface");
  decltype(&eglMakeCurrent) make_current = library.find<decltype(&eglMakeCurrent)>("eglMakeCurrent");

  bool is_whole() const {
    return get_proc_address && get_display && initialize && terminate && query_string && bind_api && choose_config &&
           create_context && destroy_context && create_surface && make_current;
  }
  template <typename Function>
  Function extension(const char* name) const {
    return reinterpret_cast<Function>(get_proc_address(name));
  }
};

class EglContext final : public OffscreenContext {
 public:
  EglContext(const Egl& egl, EGLDisplay display, EGLContext context)
      : egl_(egl), display_(display), context_(context) {}
  ~EglContext() override {
    egl_.make_current(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    egl_.destroy_context(display_, context_);
    egl_.terminate(display_);
  }
  Gl::Function find(const char* name) const override { return egl_.get_proc_address(name); }

 private:
  const Egl& egl_;
  EGLDisplay display_;
  EGLContext context_;
};

// Displays of every device, the one of the CUDA GPU first and those in software last; then those that take no device.
std::vector<EGLDisplay> displays(const Egl& egl, std::optional<int> cuda) {
  std::vector<EGLDisplay> found;
  const auto platform_display = egl.extension<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
  const auto query_devices = egl.extension<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
  const auto query_string = egl.extension<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
  const auto query_number = egl.extension<PFNEGLQUERYDEVICEATTRIBEXTPROC>("eglQueryDeviceAttribEXT");
  const char* const client = egl.query_string(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  const auto has = [&](const char* extension) {
    return client && std::string_view(client).find(extension) != std::string_view::npos;
  };
  EGLDeviceEXT devices[32];
  EGLint count = 0;
  if (platform_display && query_devices && has("EGL_EXT_platform_device") && query_devices(32, devices, &count)) {
    const auto rank = [&](EGLDeviceEXT device) {
      const char* const names = query_string ? query_string(device, EGL_EXTENSIONS) : nullptr;
      const std::string_view extensions = names ? names : "";
      EGLAttrib number = -1;
      if (extensions.find("EGL_NV_device_cuda") != std::string_view::npos && query_number)
        query_number(device, kCudaDevice, &number);
      if (cuda && number == *cuda) return 0;
      return extensions.find("software") == std::string_view::npos ? 1 : 2;
    };
    std::stable_sort(devices, devices + count, [&](EGLDeviceEXT a, EGLDeviceEXT b) { return rank(a) < rank(b); });
    for (int k = 0; k < count; ++k) found.push_back(platform_display(EGL_PLATFORM_DEVICE_EXT, devices[k], nullptr));
  }
  if (platform_display && has("EGL_MESA_platform_surfaceless"))
    found.push_back(platform_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr));
  found.push_back(egl.get_display(EGL_DEFAULT_DISPLAY));
  return found;
}

std::unique_ptr<OffscreenContext> open_on(const Egl& egl, EGLDisplay display) {
  if (display == EGL_NO_DISPLAY || !egl.initialize(display, nullptr, nullptr)) return nullptr;
  constexpr EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  constexpr EGLint version[] = {
      EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  constexpr EGLint small[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (egl.bind_api(EGL_OPENGL_API) && egl.choose_config(display, wanted, &config, 1, &count) && count > 0) {
    const EGLContext context = egl.create_context(display, config, EGL_NO_CONTEXT, version);
    // Where there are no surfaces at all, a context does without.
    const EGLSurface surface = egl.create_surface(display, config, small);
    if (context != EGL_NO_CONTEXT && egl.make_current(display, surface, surface, context))
      return std::make_unique<EglContext>(egl, display, context);
    if (context != EGL_NO_CONTEXT) egl.destroy_context(display, context);
  }
  egl.terminate(display);
  return nullptr;
}

}  // namespace

std::unique_ptr<OffscreenContext> open_egl(std::optional<int> cuda, std::string& reasons) {
  static const Egl egl;
  if (!egl.library.is_open()) {
    reasons += " libEGL.so.1 cannot be opened;";
    return nullptr;
  }
  if (egl.is_whole()) {
    for (const EGLDisplay display : displays(egl, cuda)) {
      if (auto context = open_on(egl, display)) return context;
    }
  }
  reasons += " EGL has no device with OpenGL 3.3;";
  return nullptr;
}

}  // namespace examples
