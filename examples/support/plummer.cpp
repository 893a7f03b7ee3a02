// A seed -> bodies of Plummer's sphere. Its entry point is plummer().
// Literature: S. J. Aarseth, M. Henon & R. Wielen, Astron. Astrophys. 37 (1974) 183, whose way of drawing this is;
// their unit of length is the sphere's own, the standard one is 16 / (3 pi) of it.
#include "examples/support/plummer.h"

#include <cmath>
#include <numbers>
#include <random>

namespace examples {
namespace {

// Farther out than this, in standard units, is 0.1% of the mass; nobody starts there.
constexpr double kFarthest = 22.8;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}

  // Between 0 and 1, neither of them. The library's distributions differ from one implementation to the next.
  double uniform() { return (double(bits_() >> 11) + 0.5) * 0x1p-53; }

  void append_direction(double length, std::vector<double>& to) {
    const double z = 2 * uniform() - 1, across = std::sqrt(1 - z * z), angle = 2 * std::numbers::pi * uniform();
    to.insert(to.end(), {length * across * std::cos(angle), length * across * std::sin(angle), length * z});
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace

Bodies plummer(std::int64_t count, std::uint64_t seed) {
  constexpr double scale = 3 * std::numbers::pi / 16;
  Draw draw(seed);
  Bodies bodies;
  bodies.mass.assign(std::size_t(count), 1.0 / double(count));
  for (std::int64_t k = 0; k < count; ++k) {
    double r;
    do {
      r = 1 / std::sqrt(std::pow(draw.uniform(), -2.0 / 3.0) - 1);
    } while (r * scale > kFarthest);
    // The share q of the escape velocity has the density q^2 (1 - q^2)^(7/2), which is below 0.1.
    double q;
    do {
      q = draw.uniform();
    } while (0.1 * draw.uniform() > q * q * std::pow(1 - q * q, 3.5));
    draw.append_direction(r * scale, bodies.x);
    draw.append_direction(q * std::sqrt(2 / scale) * std::pow(1 + r * r, -0.25), bodies.v);
  }
  rest_in_the_origin(bodies);
  return bodies;
}

}  // namespace examples
