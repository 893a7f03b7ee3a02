// A context without a window -> a picture that can be drawn into and read. Entry points: open_offscreen(),
// read_pixels(). Where contexts come from is egl.cpp's and osmesa.cpp's.
#include "examples/nbody/draw/offscreen.h"

#include <algorithm>
#include <cstddef>

#include "examples/support/failure.h"

namespace examples {
namespace {

const OffscreenContext& there(const std::unique_ptr<OffscreenContext>& context, const std::string& reasons) {
  if (!context) throw Missing("nothing here draws pictures off screen:" + reasons);
  return *context;
}

}  // namespace

Offscreen::Offscreen(std::unique_ptr<OffscreenContext> context, const std::string& reasons, int width, int height)
    : context_(std::move(context)),
      gl_([&, &from = there(context_, reasons)](const char* name) { return from.find(name); }),
      width_(width),
      height_(height) {
  gl_.GenRenderbuffers(1, &pixels_);
  gl_.BindRenderbuffer(GL_RENDERBUFFER, pixels_);
  gl_.RenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  gl_.GenFramebuffers(1, &target_);
  gl_.BindFramebuffer(GL_FRAMEBUFFER, target_);
  gl_.FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, pixels_);
  if (gl_.CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    throw Missing("OpenGL by " + renderer() + " draws no picture of " + std::to_string(width) + " x " +
                  std::to_string(height));
  }
}

Offscreen::~Offscreen() {
  gl_.DeleteFramebuffers(1, &target_);
  gl_.DeleteRenderbuffers(1, &pixels_);
}

std::string Offscreen::renderer() const { return reinterpret_cast<const char*>(gl_.GetString(GL_RENDERER)); }

Image Offscreen::read() const { return read_pixels(gl_, width_, height_); }

Image read_pixels(const Gl& gl, int width, int height) {
  Image image{width, height, std::vector<std::uint8_t>(std::size_t(3) * std::size_t(width) * std::size_t(height))};
  gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
  gl.ReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, image.rgb.data());
  // OpenGL begins with the lowest row.
  const std::ptrdiff_t row = 3 * std::ptrdiff_t(width);
  for (std::ptrdiff_t y = 0; y < height / 2; ++y)
    std::swap_ranges(image.rgb.begin() + y * row, image.rgb.begin() + (y + 1) * row,
                     image.rgb.begin() + (height - 1 - y) * row);
  return image;
}

std::unique_ptr<Offscreen> open_offscreen(std::optional<int> cuda, int width, int height) {
  std::string reasons;
  std::unique_ptr<OffscreenContext> context = open_egl(cuda, reasons);
  if (!context) context = open_osmesa(reasons);
  return std::make_unique<Offscreen>(std::move(context), reasons, width, height);
}

}  // namespace examples
