// In place of viewer/ where the libraries for it were not found.
#include "examples/nbody/viewer.h"

#include "examples/support/failure.h"

namespace examples {

void show(const ViewerStart&, const ViewerChoice&, const FrameChoice&) {
  throw Missing("built without --viewer: it needs libglfw3-dev, libimgui-dev and what --frames needs");
}

}  // namespace examples
