// A buffer of OpenGL as memory of a CUDA GPU. The driver's functions are found at run time: no CUDA is needed to build.
#pragma once
#include <cstddef>
#include <memory>

#include "examples/nbody/draw/gl.h"

namespace examples {

class SharedBuffer {
 public:
  // Of the current context. ordinal: the GPU's number. Throws std::runtime_error that tells why it cannot be, as where
  // another device draws.
  SharedBuffer(const Gl& gl, unsigned buffer, int ordinal);
  ~SharedBuffer();
  SharedBuffer(const SharedBuffer&) = delete;
  SharedBuffer& operator=(const SharedBuffer&) = delete;

  // From map() to unmap() the buffer is the GPU's, for what is given to the legacy default stream; after that OpenGL's,
  // which waits for that work by itself. The address is valid for so long only. Throw std::runtime_error.
  void* map();
  void unmap();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace examples
