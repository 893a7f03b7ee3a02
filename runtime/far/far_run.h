// The steps of a sum with a far field on the host; the device's kernels sum over the lists.
// Tested by tests/numeric/far_field_test.cpp.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/far/far_norms.h"
#include "runtime/far/far_sample.h"
#include "runtime/far/far_sums.h"
#include "runtime/far/far_table.h"
#include "runtime/far/far_walk.h"
#include "runtime/sum/plan/far_steps.h"

namespace nbcc {

class FarRun final : public FarSteps {
 public:
  // Both must outlive this object. Throws UsageError if the pipeline has no far field.
  FarRun(const Kernel& kernel, const Summation& summation, Precision at_least);

  std::string prepare(const SumRequest& request, int leaf) override;
  bool has_moved_far() override;
  bool have_values_changed(double spread) override;
  std::string draw_sample(const SumRequest& request, std::int64_t wanted) override;
  std::string begin_table(const SumRequest& request) override;
  void forget_lists() override { lists_.reset(); }
  double cost(const FarSetting& setting) override;
  void compute(const SumRequest& request, const FarSetting& setting, Of of) override;
  void compute_all_pairs(const SumRequest& request, Of of) override;
  double error_of_sample() override;
  bool sampled_all() const override { return sample_.is_complete(); }
  void finish(const SumRequest& request) override;
  FarMemory memory(const SumRequest& request, const FarSetting& setting) override;
  const FarKernels& kernels() const override { return sums_.kernels(); }
  FarStatistics statistics() override { return statistics_; }
  void reset_seconds() override { statistics_.seconds = {}; }

 private:
  // Lists of SumState, as arrays.
  struct ListStore {
    std::vector<std::int64_t> i_first, i_order, range_first, j_begin, j_end, j_order;
    void clear();
    void add_range(std::int64_t begin, std::int64_t end);
    void end_group(std::int64_t i_end);
    // Makes a last group, without ranges, of all i below `count` that are in no other group.
    void end_with_others(std::int64_t count);
    ListArrays arrays() const;
  };

  const FarTree& tree_of_i() const { return one_tree_ ? tree_of_j_ : tree_of_i_; }
  void set_leaf(int leaf);
  FarWalk walk_trees(const FarSetting& setting, bool counts_only);
  void make_lists(const SumRequest& request, const FarSetting& setting, Of of);
  void find_sampled_cells();
  void go_up(const FarSetting& setting);
  void add_up();

  const KernelSource& source_;
  const ForEach for_each_;
  FarSums sums_;
  FarTable table_;
  std::vector<double> centres_;

  struct Particles {
    std::vector<double> position;  // [particle][axis]
    FarColumns values;             // weights of j, factors of i
  };
  Particles i_, j_;
  std::vector<double> last_position_of_i_, last_position_of_j_;
  std::vector<double> sampled_position_of_i_, sampled_position_of_j_;  // when the sample was drawn
  std::vector<std::int64_t> chosen_, last_chosen_;                     // the chosen i with a finite position
  std::vector<std::int64_t> not_finite_;                               // the other chosen i
  FarNorms norms_of_factors_, norms_of_weights_;                       // when the sample was drawn
  FarTree tree_of_i_, tree_of_j_;
  bool one_tree_ = false;  // of i and j
  int leaf_of_trees_ = 0;  // 0: there are no trees yet

  // What the lists and the weights of the grids were made for; nothing: there are none for these trees and particles.
  struct Made {
    FarSetting setting;
    Of of = Of::All;
  };
  std::optional<Made> lists_;
  std::optional<int> up_order_;
  bool lists_are_new_ = true;  // the sums have other lists
  ListStore near_lists_, distant_lists_;
  FarColumns points_of_i_, points_of_j_, distant_sums_, totals_;

  FarSample sample_;
  std::vector<char> is_sampled_;     // [position in the tree of i]
  std::vector<char> sampled_cells_;  // cells of i that contain a sampled i; empty: not found yet
  FarColumns exact_;                 // as FarSample has it, by i
  FarStatistics statistics_;
};

}  // namespace nbcc
