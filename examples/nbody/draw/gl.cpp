// Names -> the functions of a context. Entry point: Gl. Draws nothing.
#include "examples/nbody/draw/gl.h"

#include <string>

#include "examples/support/failure.h"

namespace examples {

Gl::Gl(const std::function<Function(const char*)>& find) {
#define EXAMPLES_GL_FIND(type, name)                            \
  name = reinterpret_cast<PFNGL##type##PROC>(find("gl" #name)); \
  if (!name)                                                    \
    throw Missing(                                              \
        "this OpenGL has no function "                          \
        "gl" #name);
  EXAMPLES_GL_FUNCTIONS(EXAMPLES_GL_FIND)
#undef EXAMPLES_GL_FIND
}

}  // namespace examples
