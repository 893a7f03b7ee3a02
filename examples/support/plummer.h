// A star cluster to begin with.
#pragma once
#include "examples/support/bodies.h"

namespace examples {

// A sample of Plummer's sphere in standard units (G = 1, mass 1, energy -1/4) with equal masses, its centre at rest in
// the origin. Nothing is scaled: a sample's own energy is near -1/4. The same seed gives the same bodies.
Bodies plummer(std::int64_t count, std::uint64_t seed);

}  // namespace examples
