// Particles of a liquid, and sums on a GPU over one set of particles with all arrays there: what the programs about
// neighbours and about lists share.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/cuda/contest.h"
#include "bench/particles.h"
#include "runtime/api/nbcc.hpp"

namespace nbcc::bench {

// A Lennard-Jones liquid of density 0.8442: atoms near an fcc lattice some of whose sites are vacant; reaches vary by a
// fifth. In the order of the lattice, as they begin or as engines keep them, or in none.
enum class AtomOrder : std::uint8_t { Random, Lattice };
Particles liquid_atoms(std::int64_t n, double reach, AtomOrder order = AtomOrder::Random);

// The largest over the root mean square of what is expected; 1e30 if one is NaN.
double largest_difference(const std::vector<double>& is, const std::vector<double>& expected);

// A sum with all its arrays on the GPU; fields of i and j with one name but for the last letter are one array.
class OneSetSum {
 public:
  OneSetSum(const Gpu& gpu, const std::string& pipeline, const Particles& particles)
      : OneSetSum(gpu.gpu, gpu.device, pipeline, particles) {}
  // `gpu`: where the arrays are, one of the device's.
  OneSetSum(const CudaGpu& gpu, const Device& device, const std::string& pipeline, const Particles& particles);

  Sum& sum() { return sum_; }
  std::int64_t count() const { return n_; }
  CudaDevicePointer array(const std::string& name) const { return arrays_.at(name)->data(); }

  // Largest difference of an output between searched and all pairs over its root mean square, over some i.
  double difference();
  // Of the last run, output by output.
  std::vector<std::vector<float>> results();

 private:
  const CudaGpu& gpu_;
  Pipeline pipeline_;
  Sum sum_;
  std::int64_t n_;
  std::map<std::string, std::unique_ptr<CudaBuffer>> arrays_;
  std::vector<std::pair<const CudaBuffer*, int>> outputs_;
};

}  // namespace nbcc::bench
