// A camera that circles around a point and looks at it.
#pragma once
#include <array>

#include "examples/support/bodies.h"

namespace examples {

struct Camera {
  // Radians. At 0, 0 it stands on the z axis with y upwards.
  double azimuth = 0, elevation = 0;
  double distance = 4;
  std::array<double, 3> target{};

  void orbit(double to_the_right, double upwards);  // radians
  void approach(double factor);                     // more than 1: nearer

  // World to clip coordinates, column by column, for a picture that is `aspect` times as wide as high.
  std::array<float, 16> to_clip(double aspect) const;
};

// The tangent of half the angle of view, along the shorter side of the picture.
inline constexpr double kHalfView = 0.4;

// The bodies that a picture of the first `count` shows; 0: all. Throws UsageError if there are not so many.
Bodies first_bodies(const Bodies& bodies, std::int64_t count);

// Before the centre of mass, so far away that most bodies are in the picture.
Camera camera_for(const Bodies& bodies);

}  // namespace examples
