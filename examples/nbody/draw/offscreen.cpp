// A context without a window -> a picture that can be drawn into and read. Entry points: open_offscreen(),
// read_pixels(). Where contexts come from is egl.cpp's and osmesa.cpp's.
#include "examples/nbody/draw/offscreen.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "examples/support/failure.h"

namespace examples {
namespace {

const OffscreenContext& there(const std::unique_ptr<OffscreenContext>& context, const std::string& reasons) {
  if (!context) throw Missing("nothing here draws pictures off screen:" + reasons);
  return *context;
}

constexpr float kBrightest = 65504;  // the largest finite half float

Image black(int width, int height) {
  return {width, height, std::vector<std::uint8_t>(std::size_t(3) * std::size_t(width) * std::size_t(height))};
}

// OpenGL begins with the lowest row.
void turn_upside_down(Image& image) {
  const std::ptrdiff_t row = 3 * std::ptrdiff_t(image.width);
  for (std::ptrdiff_t y = 0; y < image.height / 2; ++y)
    std::swap_ranges(image.rgb.begin() + y * row, image.rgb.begin() + (y + 1) * row,
                     image.rgb.begin() + (image.height - 1 - y) * row);
}

// Light of 0 and more -> 0 to 1: the same up to a half, then ever closer to 1. Where thousands of bodies overlap, their
// colour is seen, which clipping would make white.
float compressed(float light) { return light <= 0.5F ? light : 1 - 0.5F * std::exp(1 - 2 * light); }

}  // namespace

Offscreen::Offscreen(std::unique_ptr<OffscreenContext> context, const std::string& reasons, int width, int height)
    : context_(std::move(context)),
      gl_([&, &from = there(context_, reasons)](const char* name) { return from.find(name); }),
      width_(width),
      height_(height) {
  gl_.GenRenderbuffers(1, &pixels_);
  gl_.BindRenderbuffer(GL_RENDERBUFFER, pixels_);
  gl_.RenderbufferStorage(GL_RENDERBUFFER, GL_RGBA16F, width, height);
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

Image Offscreen::read() const {
  Image image = black(width_, height_);
  std::vector<float> light(image.rgb.size());
  gl_.PixelStorei(GL_PACK_ALIGNMENT, 1);
  gl_.ReadPixels(0, 0, width_, height_, GL_RGB, GL_FLOAT, light.data());
  for (float& one : light) one = one < kBrightest ? one : kBrightest;  // also of NaN
  for (std::size_t k = 0; k < light.size(); k += 3) {
    const float brightest = std::max({light[k], light[k + 1], light[k + 2]});
    const float factor = brightest > 0 ? 255 * compressed(brightest) / brightest : 0;
    for (std::size_t c = k; c < k + 3; ++c) image.rgb[c] = std::uint8_t(factor * light[c] + 0.5F);
  }
  turn_upside_down(image);
  return image;
}

Image read_pixels(const Gl& gl, int width, int height) {
  Image image = black(width, height);
  gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
  gl.ReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, image.rgb.data());
  turn_upside_down(image);
  return image;
}

std::unique_ptr<Offscreen> open_offscreen(std::optional<int> cuda, int width, int height) {
  std::string reasons;
  std::unique_ptr<OffscreenContext> context = open_egl(cuda, reasons);
  if (!context) context = open_osmesa(reasons);
  return std::make_unique<Offscreen>(std::move(context), reasons, width, height);
}

}  // namespace examples
