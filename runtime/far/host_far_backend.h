// The host's memory for a sum with a far field; the sums' kernels are those of the device whose sum it is.
#pragma once
#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/far/far_backend.h"
#include "runtime/far/far_grids.h"
#include "runtime/far/periodic/image_sums.h"
#include "runtime/for_each.h"

namespace nbcc {

// Values of particles -> values by position in the tree.
inline void in_order(const FarTree& tree, std::span<const double> from, std::span<double> to) {
  for (std::size_t p = 0; p < tree.order().size(); ++p) to[p] = from[std::size_t(tree.order()[p])];
}

// Owns values of particles or points in the host's memory.
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
  FarArray array() { return {memory_.data(), count_, count_}; }
  std::int64_t count() const { return count_; }

 private:
  int components_ = 0;
  std::int64_t count_ = 0;
  std::vector<double> memory_;
};

class HostFarBackend : public FarBackend {
 public:
  HostFarBackend(const Kernel& kernel, const Summation& summation, Precision at_least, bool may_be_relative = true);

  void reserve_particles(const SumRequest& request) override;
  std::vector<OpenExtent> extents(std::span<const CellVector> directions) override;
  void move_to_cell(const PeriodicCell& cell, const std::vector<CellVector>& shifts) override;
  std::string check_particles() override;
  std::vector<std::int64_t> chosen_i() const override { return chosen_; }
  bool are_in_trees() override;
  bool build_trees(bool one_tree, int leaf) override;
  void split_trees(int leaf) override;
  std::vector<int> cell_sizes(bool of_i) const override;
  void keep_orders() override {
    order_of_j_.assign(tree_of_j_.order().begin(), tree_of_j_.order().end());
    order_of_i_.assign(tree_of_i().order().begin(), tree_of_i().order().end());
  }
  std::array<std::vector<FarNorms>, 2> norms() override {
    return {norms_of(weights_.all(), order_of_j_), norms_of(factors_.all(), order_of_i_)};
  }
  FarCosts costs() const override;
  FarCounts count_pairs(int order, const FarLimits& limits) override {
    return counts_of(order, walk_trees(order, limits, true));
  }
  FarCounts make_lists(int order, const FarLimits& limits, std::span<const std::int64_t> sampled) override;
  void find_corrections(const PairRows* excluded) override;
  bool sums_sample_alone() const override { return true; }
  std::vector<std::int64_t> some_of(std::span<const std::int64_t> sampled, std::int64_t wanted) override;
  FarArray reserve_sums(Sums which, int components) override;
  std::vector<double> rows(const FarArray& columns, int components, std::span<const std::int64_t> particles) override;
  void go_up(int order) override;
  void sum_near(const SumRequest& request, const FarArray& totals, bool lists_are_new) override;
  void sum_distant(const SumRequest& request, bool lists_are_new) override;
  void go_down(int order, const FarArray& totals) override;
  void add_corrections(const SumRequest& request, const FarArray& totals) override;
  void collect_far_images(std::shared_ptr<const FarOperator> through) override;
  void add_far_images(const FarArray& totals, std::span<const std::int64_t> sampled) override;
  std::shared_ptr<double> zeros(std::int64_t count) override {
    const auto memory = std::make_shared<std::vector<double>>(std::size_t(count));
    return {memory, memory->data()};
  }
  void add(double* to, const double* from, std::int64_t count) override {
    for (std::int64_t k = 0; k < count; ++k) to[k] += from[k];
  }
  FarMemory memory(const SumRequest& request, const FarSetting& setting) override;

 protected:
  const FarTree& tree_of_i() const { return one_tree_ ? tree_of_j_ : tree_of_i_; }
  // The cells that act on the i, if they are not those of one tree of j: a forest, and its roots.
  virtual const FarTree& sources() const { return tree_of_j_; }
  virtual std::vector<std::int32_t> roots() const { return {}; }
  std::vector<OpenExtent> finite_extents(std::span<const CellVector> directions) const;
  // Of all j: as constants_of() takes them.
  virtual std::vector<double> weights_of_points(const FarOperator& through);
  // Coordinates of the points of i, with the factors of particles where there are no grids of i.
  void make_points_of_i(int order);

  const ForEach for_each_;
  std::vector<double> position_of_i_, position_of_j_;  // [particle][axis]
  FarColumns weights_, factors_;
  std::vector<std::int64_t> chosen_, not_finite_;  // the chosen i with a finite position; the other chosen i
  FarTree tree_of_i_, tree_of_j_;
  FarColumns points_of_j_;
  std::vector<CellVector> images_;    // shifts of the near images of a periodic sum; empty: it is none
  std::optional<PeriodicCell> cell_;  // of a periodic sum

 private:
  // The memory of lists, whose arrays DerivedSum::set_lists() copies.
  struct ListStore {
    std::vector<std::int64_t> i_first, i_order, range_first, j_begin, j_end, j_order;
    std::vector<std::int32_t> images;  // [range]
    std::vector<double> shifts;        // [range][axis], by set_shifts()
    int axes = 0;
    std::size_t groups = 0;  // without the last one of end_with_others()
    void clear();
    void add_range(std::int64_t begin, std::int64_t end, std::int32_t image);
    void end_group();
    // Makes a last group, without ranges, of all i below `count` that are in no other group.
    void end_with_others(std::int64_t count);
    void set_shifts(std::span<const CellVector> of_images, int axes);
    ListArrays arrays() const;
  };
  // Pairs whose terms are added or taken out, with one image of j.
  struct CorrectedPair {
    FarSums::Sign sign = FarSums::Sign::Minus;
    int image = 0, i = 0, j = 0;  // image: the number of the shift
    auto operator<=>(const CorrectedPair&) const = default;
  };
  struct Correction {
    FarSums::Sign sign = FarSums::Sign::Minus;
    CellVector shift{};
    PairRows pairs;
    std::vector<std::int64_t> i;
  };
  using Clock = std::chrono::steady_clock;

  void mark(std::size_t k) override;
  double seconds_between(std::size_t first, std::size_t second) override {
    return std::chrono::duration<double>(marks_[second] - marks_[first]).count();
  }
  FarWalk walk_trees(int order, const FarLimits& limits, bool counts_only) const;
  FarCounts counts_of(int order, const FarWalk& walk) const;
  void find_sampled_cells(std::span<const std::int64_t> sampled);

  ImageSums far_images_;
  std::vector<double> shifted_;                        // of i, by the shift of an image
  std::vector<std::int64_t> order_of_i_, order_of_j_;  // by keep_orders()
  ListStore near_lists_, distant_lists_;
  std::vector<char> is_sampled_, sampled_cells_;  // [position in the tree of i], [cell]; empty: all have sums
  std::vector<Correction> corrections_;
  FarColumns points_of_i_, distant_sums_, totals_, exact_;
  std::vector<Clock::time_point> marks_;
};

}  // namespace nbcc
