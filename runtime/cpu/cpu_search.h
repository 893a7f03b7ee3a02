// The neighbour search on the CPU, for pipelines with a proved cutoff: groups of nearby i, each with the j within
// reach.
//
// For every group, the packed j-particles within reach of its bounding box are gathered, and the all-pairs kernel sums
// over them. Groups and the order of their j depend on the chosen i and on the j, not on the number of threads. A
// kernel with reactions has half lists instead (half_lists.h). Tested by tests/numeric/neighbour_search_test.cpp.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/cpu/cpu_toolchain.h"
#include "runtime/cpu/half_lists.h"
#include "runtime/search/particle_tree.h"
#include "runtime/sum/request/lists.h"
#include "runtime/sum/request/pack.h"

namespace nbcc {

class CpuSearch {
 public:
  // Both must outlive this object.
  CpuSearch(const KernelSource& source, const CpuCode& code);

  // Computes the positions of particles from their packed columns and the params in `given`. False: a search is not
  // possible, because no particle has a finite position, the extent overflows, a length of the periodic box is NaN, or
  // the vectors of a cell are not independent.
  bool locate(const nbcc_kernel_arguments& given, std::int64_t ni, std::int64_t nj, const ForEach& for_each);
  // True if the located i and j have equal positions and reaches, as half lists require.
  bool is_one_set() const { return is_one_set_; }
  // The cost of a search and its sums, as the number of pairs that a sum over all pairs evaluates in the same time.
  // Call after locate().
  double cost() const;
  // True if the order and the lists of the last sort(), made with the same skin, are valid for the located particles.
  bool holds(double skin) const;
  // Sorts the located particles. With a skin > 0, later calls of gather() keep the lists of the groups.
  void sort(double skin, const ForEach& for_each);
  // Copies the columns of the packed and prepared particles `j` into the order of the last sort().
  void arrange(const PackedSide& j);

  // Groups of i; group k has the positions from k * ParticleTree::kLeaf on in order_of_i(), an order of the chosen i.
  std::int64_t groups() const { return i_tree().leaves(); }
  const std::vector<int>& order_of_i() const { return i_tree().numbers(); }

  // The j of one group, ready for the kernel.
  struct Gathered {
    explicit Gathered(const KernelSource& source) : columns(source, Role::InputJ) {}
    std::vector<int> positions;  // in the sorted order
    std::vector<int> numbers;    // indices in the caller's array, parallel to the columns
    PackedSide columns;
    std::vector<float> boxes;  // of a half list: nbcc_half_list::boxes
    std::int64_t capacity = 0;
    HalfLists half_lists;
  };
  // The j near a group, except those in the leaves `without`, which must be none if lists are kept. Several threads may
  // call this at once for different groups.
  void gather(std::int64_t group, ParticleTree::Leaves without, Gathered& gathered);
  // Replaces the reaches of the i at positions from `begin` on, for later calls of gather(); the lists must not be
  // kept. Several threads may set the reaches of different i.
  void set_reaches(std::int64_t begin, std::span<const double> reaches);
  // The j of some leaves near a group, at least `count` j or all: some of its neighbours, but not always the nearest.
  ParticleTree::Leaves gather_near(std::int64_t group, std::int64_t count, Gathered& gathered) const;
  // The half lists of a piece. `found` holds them if they are not kept. Several threads may call this at once for
  // different pieces.
  std::span<const HalfList> half_lists(std::int64_t piece, Gathered& gathered, std::vector<HalfList>& found);
  // Gathers the j of a half list. Returns their number.
  std::int64_t gather(const HalfList& list, Gathered& gathered) const;

  // The number of a group's pairs within the proved reach, compared in double precision. Counts excluded pairs too.
  std::int64_t pairs_within(std::int64_t group) const;
  // The pairs that pass the kernel's own comparisons of distances (nbcc_within) and are not excluded; the j of each i
  // in ascending order. Call after sort() and arrange(). `given` has the prepared chosen i in their order, and their
  // indices.
  FoundPairs find_pairs(const nbcc_kernel_arguments& given, const Exclusions* exclusions, std::int64_t ni,
                        const ForEach& for_each);

 private:
  struct Extent {
    bool is_set = false;  // any particle has a finite position
    std::array<double, kMaxAxes> low{}, high{};
  };
  // The coordinates of the i or of the j, and their reaches if there are any: [row][particle].
  struct Located {
    Extent replace_non_finite(std::int64_t begin, std::int64_t end);
    std::vector<char> non_finite;  // nonzero: the position was non-finite, and was replaced by that of another particle
    std::vector<double> values;
    std::vector<double*> rows;
    double reach(std::int64_t k) const { return rows.back()[k]; }
    double size(std::int64_t k) const;  // the largest absolute coordinate
    std::int64_t count = 0;
    std::array<double, kMaxAxes> low{}, high{};
  };
  bool locate_side(nbcc_locate_function locate, const nbcc_kernel_arguments& given, std::int64_t count,
                   const ForEach& for_each, Located& side);

  // The difference of the positions of j and i, and its minimum image.
  struct Displacement {
    Vector3 difference{}, image{};
  };
  Displacement displacement(const Located& a, std::int64_t i, const Located& b, std::int64_t j) const;
  void share_reaches();
  double most_change_of_images() const;
  bool stays_near(const Located& side, const std::vector<double>& then, bool reaches, double most_moved) const;
  double fraction_tested() const;  // of all pairs, in a search of full lists
  BoundingBox box_of(std::int64_t group) const;
  void copy_columns(Gathered& gathered) const;
  bool has_half_lists() const { return source_.first_reaction > 0; }
  const ParticleTree& i_tree() const { return i_tree_ ? *i_tree_ : *j_tree_; }

  const KernelSource& source_;
  const CpuCode& code_;
  SearchSpace space_;
  Located i_, j_;
  bool is_one_set_ = false;
  std::optional<ParticleTree> i_tree_, j_tree_;  // no tree of i if i and j have the same positions and reaches
  PackedSide sorted_j_;
  std::vector<BoundingBox> boxes_;   // of vectors of j, for half lists
  std::vector<float> kernel_boxes_;  // [vector of j][kFloatsOfBox], of nbcc_boxes_of_vectors

  // State of the last sort().
  double skin_ = 0;
  SearchSpace sorted_space_;
  double longest_period_ = 0;  // the largest of: lengths of the box or components of lattice vectors, skin
  std::vector<double> i_at_sort_, j_at_sort_;      // Located::values at the last sort()
  std::array<double, kMaxAxes> extent_at_sort_{};  // of all i and j
  // Empty without a skin. [group]: positions of its j, filled by gather(); [piece], filled by half_lists().
  std::vector<std::vector<int>> found_;
  std::vector<std::vector<HalfList>> half_lists_;
};

}  // namespace nbcc
