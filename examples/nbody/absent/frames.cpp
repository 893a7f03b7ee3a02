// In place of draw/ where the libraries for it were not found.
#include "examples/nbody/frames.h"

#include "examples/support/failure.h"

namespace examples {

struct Frames::State {};

Frames::Frames(const FrameChoice&, const nbcc::Device&, const Bodies&) {
  throw Missing("built without --frames and --movie: they need libegl-dev, libgl-dev and libpng-dev");
}
Frames::~Frames() = default;
void Frames::draw(const Moving&) {}
void Frames::add(const Moving&) {}
void Frames::finish() {}

}  // namespace examples
