// Bodies of a simulation -> the buffer that sprites are drawn from: within the GPU where OpenGL and CUDA share it, else
// through the host.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/nbody/draw/interop.h"
#include "examples/nbody/draw/sprites.h"
#include "examples/nbody/moving.h"

namespace examples {

// The number of a CUDA device by its name, "cuda:0, NVIDIA H200, sm_90"; nothing for another.
std::optional<int> cuda_ordinal(const nbcc::Device& device);

class Vertices {
 public:
  // Context, device and sprites must outlive it.
  Vertices(const Gl& gl, const nbcc::Device& device, const Sprites& sprites);

  void update(const Scene& particles);
  // For people: "positions stay on the GPU" or "positions pass through the host", with the reason.
  const std::string& path() const { return path_; }

 private:
  void run(nbcc::Sum& sum);

  const Gl& gl_;
  const Sprites& sprites_;
  const nbcc::Device& device_;
  nbcc::Sum sum_;                      // of nothing: sprites.pipe
  std::optional<nbcc::Sum> coloured_;  // coloured.pipe, when it is first needed
  std::unique_ptr<SharedBuffer> shared_;
  std::vector<float> host_;
  std::string path_ = "positions pass through the host";
};

}  // namespace examples
