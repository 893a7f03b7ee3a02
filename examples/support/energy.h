// How far an energy is from what it was.
#pragma once
#include <cmath>
#include <stdexcept>
#include <string>

namespace examples {

// (energy - first) / |first|, so that a bound system that loses energy has a negative error; where `first` is 0, the
// difference. Throws std::runtime_error if bodies are so far from each other, or so close, that their energy at `time`
// is no number.
inline double energy_error(double energy, double first, double time) {
  if (!std::isfinite(energy)) throw std::runtime_error("the energy is no number at time " + std::to_string(time));
  return first == 0 ? energy : (energy - first) / std::fabs(first);
}

}  // namespace examples
