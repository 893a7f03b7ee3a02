// Bodies as soft points of light, whose colour tells the speed and whose light adds up.
#pragma once
#include <cstdint>

#include "examples/nbody/draw/camera.h"
#include "examples/nbody/draw/gl.h"

namespace examples {

struct SpriteLook {
  double radius = 0.01;  // of a body's spot
  double fast = 1;       // the speed that is drawn red; half of it is white, rest is blue
  double brightness = 1;
};

// For so many bodies, seen by that camera.
SpriteLook look_for(const Bodies& bodies, const Camera& camera);

struct Rectangle {
  int left = 0, bottom = 0, width = 0, height = 0;  // pixels
};

// In the context that was current when it was made.
class Sprites {
 public:
  // Throws std::runtime_error with the log if the context refuses the shaders.
  Sprites(const Gl& gl, std::int64_t count);
  ~Sprites();
  Sprites(const Sprites&) = delete;
  Sprites& operator=(const Sprites&) = delete;

  // Where the bodies go: x, y, z and speed of each, as float.
  unsigned buffer() const { return buffer_; }
  std::int64_t count() const { return count_; }
  // On black, into a rectangle of the picture, whose rest is black too.
  void draw(const Camera& camera, const SpriteLook& look, const Rectangle& pixels) const;

 private:
  const Gl& gl_;
  std::int64_t count_;
  unsigned program_ = 0, array_ = 0, buffer_ = 0;
};

}  // namespace examples
