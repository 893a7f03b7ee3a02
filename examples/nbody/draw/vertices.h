// Bodies of a simulation -> the buffer that sprites are drawn from: within the GPU where OpenGL and CUDA share it, else
// through the host.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/nbody/draw/interop.h"
#include "examples/nbody/draw/sprites.h"
#include "examples/nbody/simulation.h"

namespace examples {

// The number of a CUDA device by its name, "cuda:0, NVIDIA H200, sm_90"; nothing for another.
std::optional<int> cuda_ordinal(const nbcc::Device& device);

class Vertices {
 public:
  // All three must outlive it.
  Vertices(const Gl& gl, const nbcc::Device& device, const Sprites& sprites);

  void update(const Simulation& simulation);
  // For people: "positions stay on the GPU" or "positions pass through the host", with the reason.
  const std::string& path() const { return path_; }

 private:
  void update_shared();

  const Gl& gl_;
  const Sprites& sprites_;
  nbcc::Sum sum_;  // of nothing: sprites.pipe
  std::unique_ptr<SharedBuffer> shared_;
  std::vector<float> host_;
  std::string path_ = "positions pass through the host";
};

}  // namespace examples
