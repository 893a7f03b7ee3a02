// The particles of a sum with a far field in the memory of a GPU: positions, weights of j, factors of i, which i are
// summed, and trees. templates/cuda/far/cuda_far_particles.cu.in has the kernels. Tested by
// tests/numeric/cuda_far_field_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/far/cuda_far_images.h"
#include "runtime/cuda/far/cuda_far_program.h"
#include "runtime/cuda/far/cuda_far_tree.h"
#include "runtime/cuda/run/cuda_copies.h"
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

// The part of CudaFarBackend (cuda_far_backend.h) that knows no lists and no sums.
class CudaFarParticles : public FarBackend {
 public:
  CudaFarParticles(const CudaKernel& kernel, const Kernel& callers, Precision at_least);

  void set_stream(void* stream) final;
  void reserve_particles(const SumRequest& request) final;  // waits for copies of inputs that are on the host
  SumRequest with_inputs(const SumRequest& request) const final;
  const double* send_centres(std::span<const double> centres) final;
  std::vector<OpenExtent> extents(std::span<const CellVector> directions) final;  // waits
  void move_to_cell(const PeriodicCell& cell, const std::vector<CellVector>& shifts) override;
  std::string check_particles() final;  // waits
  std::vector<std::int64_t> chosen_i() const final;
  std::vector<double> rows(const FarArray& columns, int components, std::span<const std::int64_t> particles) final;
  bool are_in_trees() final;
  bool build_trees(bool one_tree, int leaf) final;
  void split_trees(int leaf) final;
  std::vector<int> cell_sizes(bool of_i) const final;
  void keep_orders() final;
  std::array<std::vector<FarNorms>, 2> norms() final;
  void collect_far_images(std::shared_ptr<const FarOperator> through) final;  // waits
  void add_far_images(const FarArray& totals, std::span<const std::int64_t> sampled) final;
  std::shared_ptr<double> zeros(std::int64_t count) final;
  void add(double* to, const double* from, std::int64_t count) final;
  bool holds(const ArrayView& view) const final;
  void wait(void* stream) final;

 protected:
  const CudaFarTree& tree_of_i() const { return one_tree_ ? tree_of_j_ : tree_of_i_; }
  const CudaFarTree& tree_of_j() const { return tree_of_j_; }
  // True if other i than those of particles() are chosen, too, whose positions are not finite.
  bool leaves_out_i() const { return leaves_out_i_; }
  std::int64_t bytes() const;
  // The size of the inputs on the host or on another GPU, which reserve_particles() will copy to this GPU.
  std::int64_t bytes_to_send(const SumRequest& request) const;
  void fill(CudaDevicePointer at, unsigned pattern, std::int64_t words, const char* what);

  const CudaGpu& gpu_;
  CudaRadixSort sort_;
  CudaStream* stream_ = nullptr;  // of the last run

 private:
  // The order of the particles in a tree, and the memory of their norms.
  struct Norms {
    explicit Norms(const CudaGpu& gpu) : order(gpu), norms(gpu) {}
    CudaBuffer order, norms;
    std::int64_t count = 0;
  };
  void mark(std::size_t k) final;
  double seconds_between(std::size_t first, std::size_t second) final;
  bool is_sent(const SumRequest& request, std::size_t field) const;
  std::vector<ArrayView> inputs_of_other_gpus(const SumRequest& request) const;
  void send_inputs(const SumRequest& request);
  void send_chosen(const SumRequest& request);
  void choose(std::span<const std::int64_t> particles);
  bool choose_finite_i();
  std::vector<FarNorms> launch_norms(const CudaFarColumns& values, int components, Norms& of);
  static constexpr int kFlags = 6;
  void clear_flags();
  std::array<unsigned, kFlags> fetch_flags();  // waits
  template <typename Argument>
  void launch(const char* name, std::int64_t items, const Argument& argument);

  CudaFarProgram program_;
  std::unique_ptr<CudaFarImages> images_;  // of a periodic sum
  CudaFarTree tree_of_i_, tree_of_j_;
  std::vector<ArrayView> views_;            // of the inputs in GPU memory, parallel to the fields
  std::map<std::size_t, CudaBuffer> sent_;  // inputs of the host, by field
  CudaCopies copies_;                       // of inputs of other GPUs
  CudaBuffer positions_of_i_, positions_of_j_, centres_, list_, flags_, picked_, rows_;
  CudaFarColumns weights_, factors_;
  Norms norms_of_weights_, norms_of_factors_;
  CudaPinned pinned_;
  CudaDevicePointer chosen_ = 0;  // the chosen i with a finite position: int64 [k]; 0: all i are
  bool leaves_out_i_ = false;
  std::deque<CudaEventOwner> marks_;  // kept from run to run, because to create an event takes time
};

}  // namespace nbcc
