// Bodies that initial conditions are made of, and their particle table. Tested by
// tests/unit/particles/initial_conditions/initial_conditions_test.cpp.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "particles/initial_conditions/random_numbers.h"
#include "particles/particle_table.h"

namespace nbcc {

using Vector = std::array<double, 3>;

struct Bodies {
  std::vector<double> m, x, v;  // [body], [body][3], [body][3]
};

using Attributes = std::vector<std::pair<std::string, std::string>>;

// Columns id, m, x and v.
inline ParticleTable to_table(Bodies bodies, Attributes attributes) {
  ParticleTable table;
  table.rows = static_cast<std::int64_t>(bodies.m.size());
  std::vector<std::int64_t> id(bodies.m.size());
  for (std::size_t k = 0; k < id.size(); ++k) id[k] = static_cast<std::int64_t>(k);
  table.columns = {{"id", 1, std::move(id)},
                   {"m", 1, std::move(bodies.m)},
                   {"x", 3, std::move(bodies.x)},
                   {"v", 3, std::move(bodies.v)}};
  table.attributes = std::move(attributes);
  return table;
}

// A vector of this length in a random direction.
inline Vector random_direction(RandomNumbers& random, double length) {
  for (;;) {
    const Vector p = {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    const double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    if (square > 1 || square < 1e-6) continue;
    const double factor = length / std::sqrt(square);
    return {p[0] * factor, p[1] * factor, p[2] * factor};
  }
}

}  // namespace nbcc
