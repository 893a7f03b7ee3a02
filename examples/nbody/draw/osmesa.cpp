// OSMesa -> a context without a window, in software. Entry point: open_osmesa(). Opened at run time; the few functions
// are declared here, as in Mesa's GL/osmesa.h.
#include <cstdint>

#include "examples/nbody/draw/offscreen.h"
#include "examples/nbody/draw/shared_library.h"

namespace examples {
namespace {

struct MesaContext;
constexpr int kFormat = 0x22, kRgba = 0x1908, kProfile = 0x33, kCore = 0x34, kMajor = 0x36, kMinor = 0x37;

struct OsMesa {
  SharedLibrary library{"libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"};
  using Create = MesaContext* (*)(const int*, MesaContext*);
  using Destroy = void (*)(MesaContext*);
  using MakeCurrent = unsigned char (*)(MesaContext*, void*, unsigned, int, int);
  using Find = Gl::Function (*)(const char*);
  Create create = library.find<Create>("OSMesaCreateContextAttribs");
  Destroy destroy = library.find<Destroy>("OSMesaDestroyContext");
  MakeCurrent make_current = library.find<MakeCurrent>("OSMesaMakeCurrent");
  Find find = library.find<Find>("OSMesaGetProcAddress");
};

class OsMesaContext final : public OffscreenContext {
 public:
  OsMesaContext(const OsMesa& mesa, MesaContext* context) : mesa_(mesa), context_(context) {}
  ~OsMesaContext() override { mesa_.destroy(context_); }
  bool make_current() { return mesa_.make_current(context_, &pixel_, GL_UNSIGNED_BYTE, 1, 1) != 0; }
  Gl::Function find(const char* name) const override { return mesa_.find(name); }

 private:
  const OsMesa& mesa_;
  MesaContext* context_;
  std::uint32_t pixel_ = 0;  // its own picture, which nobody looks at
};

}  // namespace

std::unique_ptr<OffscreenContext> open_osmesa(std::string& reasons) {
  static const OsMesa mesa;
  if (!mesa.create || !mesa.destroy || !mesa.make_current || !mesa.find) {
    reasons += mesa.library.is_open() ? " this libOSMesa is too old" : " libOSMesa.so.8 cannot be opened";
    return nullptr;
  }
  constexpr int wanted[] = {kFormat, kRgba, kProfile, kCore, kMajor, 3, kMinor, 3, 0};
  if (MesaContext* const made = mesa.create(wanted, nullptr)) {
    auto context = std::make_unique<OsMesaContext>(mesa, made);
    if (context->make_current()) return context;
  }
  reasons += " OSMesa has no OpenGL 3.3";
  return nullptr;
}

}  // namespace examples
