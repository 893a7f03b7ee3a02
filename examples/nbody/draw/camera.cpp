// A place to look from -> a matrix. Entry points: Camera, camera_for(), first_bodies(). Knows no OpenGL.
#include "examples/nbody/draw/camera.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "examples/support/failure.h"

namespace examples {
namespace {

constexpr double kSteepest = 1.55;  // elevation, short of the pole

}  // namespace

void Camera::orbit(double to_the_right, double upwards) {
  azimuth += to_the_right;
  elevation = std::clamp(elevation + upwards, -kSteepest, kSteepest);
}

void Camera::approach(double factor) { distance = std::clamp(distance / factor, 1e-6, 1e9); }

std::array<float, 16> Camera::to_clip(double aspect) const {
  const double ca = std::cos(azimuth), sa = std::sin(azimuth), ce = std::cos(elevation), se = std::sin(elevation);
  // The camera's own axes: to the right, upwards, and backwards, where it stands from the target.
  const double axis[3][3] = {{ca, 0, -sa}, {-se * sa, ce, -se * ca}, {ce * sa, se, ce * ca}};
  const double near = 0.01 * distance, far = 100 * distance;
  const double half_view = kHalfView / std::min(1.0, aspect);  // from below to above
  const double scale[2] = {1 / (half_view * aspect), 1 / half_view};
  const double depth = (far + near) / (near - far), shift = 2 * far * near / (near - far);
  std::array<float, 16> m{};
  double offset[3];  // of the world's origin, seen by the camera
  for (std::size_t r = 0; r < 3; ++r)
    offset[r] = -(axis[r][0] * target[0] + axis[r][1] * target[1] + axis[r][2] * target[2]);
  offset[2] -= distance;
  for (std::size_t c = 0; c < 4; ++c) {
    const auto seen = [&](std::size_t r) { return c < 3 ? axis[r][c] : offset[r]; };
    m[4 * c + 0] = float(scale[0] * seen(0));
    m[4 * c + 1] = float(scale[1] * seen(1));
    m[4 * c + 2] = float(depth * seen(2) + (c == 3 ? shift : 0));
    m[4 * c + 3] = float(-seen(2));
  }
  return m;
}

Bodies first_bodies(const Bodies& bodies, std::int64_t count) {
  if (count > bodies.count())
    throw UsageError("--draw: expected at most " + std::to_string(bodies.count()) + ", the number of bodies, got " +
                     std::to_string(count));
  if (count == 0) return bodies;
  const auto first = [](const std::vector<double>& values, std::int64_t n) {
    return std::vector<double>(values.begin(), values.begin() + n);
  };
  return {first(bodies.mass, count), first(bodies.x, 3 * count), first(bodies.v, 3 * count), bodies.G};
}

Camera camera_for(const Bodies& bodies) {
  Camera camera;
  double mass = 0;
  for (std::size_t k = 0; k < bodies.mass.size(); ++k) {
    mass += bodies.mass[k];
    for (std::size_t c = 0; c < 3; ++c) camera.target[c] += bodies.mass[k] * bodies.x[3 * k + c];
  }
  for (double& component : camera.target) component = mass > 0 ? component / mass : 0;
  std::vector<double> radius;
  for (std::size_t k = 0; k < bodies.mass.size(); ++k) {
    const double* const x = &bodies.x[3 * k];
    radius.push_back(std::hypot(x[0] - camera.target[0], x[1] - camera.target[1], x[2] - camera.target[2]));
  }
  if (radius.empty()) return camera;
  const auto most = radius.begin() + std::ptrdiff_t(0.85 * double(radius.size() - 1) + 0.5);
  std::nth_element(radius.begin(), most, radius.end());
  if (*most > 0) camera.distance = 1.15 * *most / kHalfView;
  return camera;
}

}  // namespace examples
