// The sums of a far field, one for each of its kernels, and the arrays between them. Used by far_field.cpp alone.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/far_kernels.h"
#include "runtime/far/far_grids.h"
#include "runtime/far/far_walk.h"
#include "runtime/sum/sum.h"

namespace nbcc {

// Values of particles or points: values[component][element].
class FarColumns {
 public:
  void resize(int components, std::int64_t count) {
    components_ = components;
    count_ = count;
    memory_.resize(std::size_t(components) * std::size_t(count));
  }
  std::span<double> operator[](int component) { return {memory_.data() + component * count_, std::size_t(count_)}; }
  std::vector<std::span<double>> all() {
    std::vector<std::span<double>> columns;
    for (int c = 0; c < components_; ++c) columns.push_back((*this)[c]);
    return columns;
  }
  void fill(double value) { std::fill(memory_.begin(), memory_.end(), value); }
  ArrayView view(int first = 0) { return {memory_.data() + first * count_, Element::Double, count_, 8, 8 * count_}; }
  int components() const { return components_; }
  std::int64_t count() const { return count_; }

 private:
  int components_ = 0;
  std::int64_t count_ = 0;
  std::vector<double> memory_;
};

class FarSums {
 public:
  // Throws UsageError if the pipeline has no far field.
  FarSums(const Kernel& kernel, Precision at_least);
  const FarKernels& kernels() const { return kernels_; }
  std::shared_ptr<const Kernel> measured() const { return measured_; }
  std::vector<std::pair<std::string, std::vector<double>>> params(const SumRequest& request) const;

  // Each function returns when its results are there.
  struct Particles {
    std::vector<double> position;  // [particle][axis]
    FarColumns values;             // weights of j, factors of i
  };
  void find_sources(const SumRequest& request, Particles& particles);
  void find_targets(const SumRequest& request, Particles& particles);
  // totals[output][i]; only the i of the lists are written.
  void sum_near(const SumRequest& request, const ListArrays& lists, bool new_lists, FarColumns& totals);
  // i and j: coordinates, then factors or weights, of all points.
  void sum_distant(const SumRequest& request, FarColumns& i, FarColumns& j, const ListArrays& lists, bool new_lists,
                   FarColumns& sums);
  // exact[output][i], then sizes[output field][i]; only chosen i are written.
  void sum_sample(const SumRequest& request, std::span<const std::int64_t> chosen, FarColumns& exact);
  void finish(const SumRequest& request, FarColumns& totals);

 private:
  // Binds the caller's arrays and params to fields of the same name; inputs of `from` only.
  void bind(SumState& sum, const SumRequest& request, std::optional<Role> from) const;
  void run(SumState& sum, const SumRequest& request, RunChoice choice = {}) const;
  void find(const SumRequest& request, SumState& sum, Role side, const char* values_name, int values,
            Particles& particles);

  const KernelSource& source_;
  const FarKernels kernels_;
  std::vector<double> centres_;
  std::shared_ptr<const Kernel> measured_;
  std::optional<SumState> sources_, targets_, means_, distant_, near_, sample_, finish_;
};

}  // namespace nbcc
