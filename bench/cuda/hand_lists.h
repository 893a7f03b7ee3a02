// SPH forces by hand over lists of neighbours, which the host makes once and which are not part of the time: what the
// sums behind a search are measured against. The text is bench/hand_written/cuda/sph_lists.cu.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/cuda/hand_sum.h"

namespace nbcc::bench {

class HandLists {
 public:
  // Particles of gas(); throws std::runtime_error if the text does not compile.
  HandLists(const CudaGpu& gpu, const HandCompiler& compiler, const Particles& gas);

  struct Shape {
    std::string name;  // for people
    std::unique_ptr<const HandProgram> program;
  };
  const std::vector<Shape>& shapes() const { return shapes_; }
  void run(const Shape& shape);
  // The accelerations of the last run, in the order of the caller's particles.
  std::vector<double> accelerations() const;

 private:
  const CudaGpu& gpu_;
  std::vector<std::int64_t> order_;
  std::vector<Shape> shapes_;
  CudaBuffer rows_, list_, counts_, results_;
  float half_alpha_ = 0, beta_ = 0;
};

}  // namespace nbcc::bench
