// What pictures need of particles in motion.
#pragma once
#include <optional>

#include "runtime/api/nbcc.hpp"

namespace examples {

// On the device: positions and velocities, three numbers each; values: one number each, whose colours go from blue
// (low) over white to red (high). Without values colours show the speed.
struct Scene {
  nbcc::View positions, velocities;
  std::optional<nbcc::View> values{};
  double low = 0, high = 1;
};

class Moving {
 public:
  virtual ~Moving() = default;
  virtual Scene scene() const = 0;  // the present state
};

}  // namespace examples
