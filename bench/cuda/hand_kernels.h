// Kernels written by hand for GPUs, against which the generated ones are measured: what the bench programs see of them.
// The texts stand in bench/hand_written/cuda/.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/particles.h"
#include "runtime/api/nbcc.h"

namespace nbcc::bench {

// How a kernel's work is cut; which shape is fastest is left to a measurement.
struct HandShape {
  int threads = 128;     // of a block
  int i_per_thread = 1;  // R of the texts
  int tile = 128;        // j-particles in shared memory at a time
  int unroll = 16;       // passes of the pair loop written out
  int group = 1;         // j-particles tested together; Lennard-Jones and SPH alone
  int blocks = 1;        // on a multiprocessor at the same time, at least: a limit to the registers
};

// Particles as the kernels want them. The rows of a result hold the pipeline's outputs one after the other.
struct HandProblem {
  std::vector<std::byte> particles;  // rows of i and of j at the same time
  std::array<double, 8> params{};
};

// One text with one set of macros, in all its shapes.
struct HandFamily {
  std::string name;      // for people
  std::string text;      // embedded_cuda_kernel()
  std::string pipeline;  // whose sums it forms
  nbcc_precision precision = NBCC_SINGLE;
  std::vector<std::string> options;  // of NVRTC, macros among them
  std::vector<HandShape> shapes;
  bool divides_j = true;  // over gridDim.y
  int row = 4;            // numbers of a result
  bool row_in_double = false;
  int maximum = -1;  // the number of a result that is a maximum
  HandProblem (*pack)(const Particles&) = nullptr;
};

std::vector<HandFamily> hand_families(const std::string& pipeline, nbcc_precision precision);

std::string describe(const HandShape& shape);                                           // "128 x 4, tile 128, ..."
std::vector<std::string> options_of(const HandFamily& family, const HandShape& shape);  // of NVRTC
std::vector<std::string> options_of_add_parts(const HandFamily& family);

}  // namespace nbcc::bench
