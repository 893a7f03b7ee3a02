// A context of OpenGL without a window, and a picture in it: by EGL on a GPU or by Mesa in software, else by OSMesa.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "examples/nbody/draw/gl.h"
#include "examples/nbody/draw/image.h"

namespace examples {

// Current in the thread that made it, as long as it lives.
class OffscreenContext {
 public:
  virtual ~OffscreenContext() = default;
  virtual Gl::Function find(const char* name) const = 0;
};

// cuda: the number of the CUDA GPU that is asked first; of no GPU, whatever comes first. Nothing there: null, with the
// reason added to `reasons`.
std::unique_ptr<OffscreenContext> open_egl(std::optional<int> cuda, std::string& reasons);
std::unique_ptr<OffscreenContext> open_osmesa(std::string& reasons);

class Offscreen {
 public:
  // Throws Missing with all reasons if `context` is null.
  Offscreen(std::unique_ptr<OffscreenContext> context, const std::string& reasons, int width, int height);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  const Gl& gl() const { return gl_; }
  std::string renderer() const;  // "NVIDIA H200/PCIe/SSE2"
  int width() const { return width_; }
  int height() const { return height_; }
  // Bright light is compressed, and keeps its colour.
  Image read() const;

 private:
  std::unique_ptr<OffscreenContext> context_;
  Gl gl_;
  int width_, height_;
  unsigned target_ = 0, pixels_ = 0;
};

// EGL, else OSMesa.
std::unique_ptr<Offscreen> open_offscreen(std::optional<int> cuda, int width, int height);

// What the current context has drawn, of that size, into the target it reads from.
Image read_pixels(const Gl& gl, int width, int height);

}  // namespace examples
