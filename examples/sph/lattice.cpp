#include "examples/sph/programs.h"

namespace examples {

// The first index runs slowest, so that particles with neighbouring numbers are near each other along x: what a
// processor takes up as a vector, or a GPU as a block, is then mostly all within reach or all beyond it.
std::vector<std::array<double, 3>> lattice(const std::array<int, 3>& cells, const std::array<double, 3>& side,
                                           bool body_centred) {
  std::vector<std::array<double, 3>> places;
  for (int layer = 0; layer < cells[0] * (body_centred ? 2 : 1); ++layer) {
    const int i = body_centred ? layer / 2 : layer;
    const double shift = !body_centred ? 0.5 : layer % 2 ? 0.75 : 0.25;
    for (int j = 0; j < cells[1]; ++j)
      for (int k = 0; k < cells[2]; ++k)
        places.push_back(
            {side[0] * (i + shift) / cells[0], side[1] * (j + shift) / cells[1], side[2] * (k + shift) / cells[2]});
  }
  return places;
}

}  // namespace examples
