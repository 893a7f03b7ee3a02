// One sum with a far field, step by step: particles, trees, lists, weights up, sums, sums down. far_field.cpp decides
// with which numbers. Tested by tests/numeric/far_field_test.cpp.
//
//   particles -> trees -> lists -> weights go up -> sums over lists: near, distant -> sums go down -> finish()
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/far/far_sums.h"
#include "runtime/far/far_table.h"

namespace nbcc {

// The numbers that are chosen for a run.
struct FarSetting {
  int order = 0;          // points along each axis of a grid
  int leaf = 0;           // particles of a leaf, at most
  double limit = 0;       // largest relative error of interpolating a term; cells beyond it are not separated
  double separation = 0;  // in place of the limit: the largest ratio of a cell's radius to its distance; 0: none
};

class FarRun {
 public:
  static constexpr std::int64_t kSampled = 256;  // i whose exact sums are computed, at most

  // Both must outlive this object.
  FarRun(const Kernel& kernel, const Summation& summation, Precision at_least);

  // Reads the particles and builds trees whose leaves have at most `leaf` particles, unless the particles are where
  // they were in the last run. Returns why there can be no far field, or "".
  std::string prepare(const SumRequest& request, int leaf);
  // Computes exact sums for i drawn at random, and what FarTable needs. Returns why no error can be measured, or "".
  std::string draw_sample(const SumRequest& request);
  // The cost of a run, in near pairs. Walks, but does not sum.
  double cost(const FarSetting& setting);
  // Computes the totals, before finish(): of all i, or only of the sampled i.
  enum class Of : bool { All, Sampled };
  void compute(const SumRequest& request, const FarSetting& setting, Of of);
  // Compares the totals of the sampled i with the exact sums: the rms of |error| / sum of |terms|.
  double error_of_sample();
  // True if all chosen i are sampled.
  bool sampled_all() const { return sampled_.size() == chosen_.size(); }
  void finish(const SumRequest& request);

  const FarKernels& kernels() const { return sums_.kernels(); }
  // Seconds are added up until the caller resets them.
  FarStatistics statistics;

 private:
  // Lists of SumState, as arrays.
  struct ListStore {
    std::vector<std::int64_t> i_first, i_order, range_first, j_begin, j_end, j_order;
    void clear();
    void add_range(std::int64_t begin, std::int64_t end);
    void end_group(std::int64_t i_end);
    // Makes a last group without ranges of those of the first `count` i that are in no group.
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
  std::optional<std::vector<double>> params_of_table_;  // nothing: the table has no weights yet

  FarSums::Particles i_, j_;
  std::vector<double> last_position_of_i_, last_position_of_j_;
  std::vector<std::int64_t> chosen_, last_chosen_;  // the chosen i with a finite position
  std::vector<std::int64_t> not_finite_;            // the other chosen i
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
  double walked_ratio_ = 0;    // the largest of all cells
  ListStore near_lists_, distant_lists_;
  FarColumns points_of_i_, points_of_j_, distant_sums_, totals_;

  std::vector<std::int64_t> sampled_;
  std::vector<char> is_sampled_;      // [position in the tree of i]
  std::vector<char> sampled_cells_;   // cells of i that contain a sampled i; empty: not found yet
  FarColumns exact_;                  // sums, then for each output field sums of |terms|
  std::vector<double> typical_size_;  // [output field]: sum of |terms|; a tenth of the sampled i have less
};

}  // namespace nbcc
