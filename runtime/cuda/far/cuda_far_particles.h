// The particles of a sum with a far field in the memory of a GPU: positions, weights of j, factors of i, and which i
// are summed. templates/cuda/far/cuda_far_particles.cu.in has the kernels. Tested by
// tests/numeric/cuda_far_field_test.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/far/cuda_far_inputs.h"
#include "runtime/cuda/far/cuda_far_program.h"
#include "runtime/cuda/far/cuda_far_tree.h"
#include "runtime/far/far_backend.h"
#include "templates/cuda/far/cuda_far_data.h"

namespace nbcc {

constexpr unsigned kHalfOfNaN = 0x7ff80000;  // memory of this pattern has doubles that are NaN

// Columns of doubles in GPU memory that only grows.
class CudaFarColumns {
 public:
  explicit CudaFarColumns(const CudaGpu& gpu) : memory_(gpu) {}
  void resize(int components, std::int64_t count, const char* what) {
    reserve_elements(memory_, std::int64_t(components) * count + 1, sizeof(double), what);
    count_ = count;
  }
  FarArray array() const { return {reinterpret_cast<double*>(memory_.data()), count_, count_}; }
  far_data::FarColumns columns(int first = 0) const {
    return {reinterpret_cast<double*>(memory_.data()) + first * count_, count_};
  }
  std::int64_t count() const { return count_; }
  std::int64_t bytes() const { return std::int64_t(memory_.bytes()); }

 private:
  CudaBuffer memory_;
  std::int64_t count_ = 0;
};

class CudaFarParticles {
 public:
  // All must outlive this object. `particles`: what reserve() and check() find.
  CudaFarParticles(const CudaKernel& kernel, const FarKernels& kernels, FarParticles& particles);

  // As FarBackend has these functions. Inputs on the host are sent to the GPU. check() waits.
  void reserve(const SumRequest& request, CudaStream* stream);
  const double* send(std::span<const double> centres);
  std::string check();
  // The request with its inputs in GPU memory.
  SumRequest with_inputs(const SumRequest& request) const;

  const CudaFarColumns& weights() const { return weights_; }
  const CudaFarColumns& factors() const { return factors_; }
  // The chosen i with a finite position: int64 [k]; 0: all i are.
  CudaDevicePointer chosen() const { return chosen_; }
  std::vector<std::int64_t> fetch_chosen() const;
  // True if other i are chosen, too, whose positions are not finite.
  bool leaves_out_i() const { return leaves_out_i_; }
  // True if the trees were built of the particles where they are now. Waits.
  bool are_in(const CudaFarTree& of_i, const CudaFarTree& of_j);

  // Keeps some positions, so that have_moved() can tell whether more than `share` of the particles have moved by more
  // than `far` along an axis since then. The latter waits.
  void keep_positions();
  bool have_moved(double far, double share);

  // Keeps the norms of weights and factors by block of neighbours in these trees, of the same numbers of particles, so
  // that change_of_norms() can compare later weights and factors with them. The latter waits.
  void keep_norms(const CudaFarTree& of_i, const CudaFarTree& of_j);
  std::pair<FarChange, FarChange> change_of_norms();

  // Rows of the picked particles' columns, on the host. Waits.
  std::vector<double> picked(const FarArray& columns, int count, std::span<const std::int64_t> particles);

  std::int64_t bytes() const;
  // The size of the inputs on the host, which reserve() will send to the GPU.
  std::int64_t bytes_to_send(const SumRequest& request) const { return inputs_.bytes_to_send(request); }

 private:
  // Positions that are kept: of every stride-th particle.
  struct Thinned {
    explicit Thinned(const CudaGpu& gpu) : positions(gpu) {}
    CudaBuffer positions;
    std::int64_t particles = 0, count = 0, stride = 1;
  };
  // Norms that are kept, and the order of the particles in the tree.
  struct Norms {
    explicit Norms(const CudaGpu& gpu) : order(gpu), norms(gpu) {}
    CudaBuffer order, norms;
    std::int64_t count = 0;
  };
  void keep_norms(const CudaFarTree& tree, const CudaFarColumns& values, int components, Norms& kept);
  void launch_norms(const CudaFarColumns& values, int components, const Norms& norms, std::int64_t change);
  void send_chosen(const SumRequest& request);
  void choose(std::span<const std::int64_t> particles);
  bool choose_finite_i();
  far_data::FarThinArgument thin_argument(const CudaBuffer& positions, Thinned& thinned) const;
  void clear_flags();
  // The first two flags. Waits.
  std::pair<unsigned, unsigned> fetch_flags();
  template <typename Argument>
  void launch(const char* name, std::int64_t items, const Argument& argument);

  const CudaGpu& gpu_;
  const FarKernels& kernels_;
  FarParticles& particles_;
  CudaFarProgram program_;
  CudaFarInputs inputs_;
  CudaStream* stream_ = nullptr;  // of the last reserve()
  CudaBuffer positions_of_i_, positions_of_j_, centres_on_device_, list_, flags_, picked_, rows_;
  CudaFarColumns weights_, factors_;
  CudaPinned pinned_;
  CudaDevicePointer chosen_ = 0;
  bool leaves_out_i_ = false;
  Thinned thinned_i_, thinned_j_;
  Norms norms_of_factors_, norms_of_weights_;
  CudaBuffer change_;  // [weights, factors][3], as FarNormsArgument has it
};

}  // namespace nbcc
