// A run on the CPU behind a proved cutoff: groups of i that stand near each other, each with the j that a search finds.
//
// For every group the packed j-particles within reach of its box are gathered, and the kernel of all pairs sums over
// them. Groups and the order of their j follow from the chosen i and from the j, not from the number of threads.
// Tested by tests/numeric/neighbour_search_test.cpp.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/cpu/cpu_toolchain.h"
#include "runtime/search/site_tree.h"
#include "runtime/sum/lists.h"
#include "runtime/sum/pack.h"

namespace nbcc {

class CpuSearch {
 public:
  // Both must outlive this object.
  CpuSearch(const KernelSource& source, const CpuCode& code);

  // Computes the positions of particles whose packed columns, and params, are in `given`. False: a search cannot help,
  // because no particle has a finite position, the extent overflows, or a length of the box is no positive number.
  bool locate(const nbcc_kernel_arguments& given, std::int64_t ni, std::int64_t nj, const ForEach& for_each);
  // Pairs that a sum over all pairs evaluates in the time of a search and the sums over what it finds. After locate().
  double cost() const;
  // Whether the order and the lists of an earlier sort(), with this skin, hold for the located particles.
  bool holds(double skin) const;
  // Sorts the located particles. With a skin what is found for the groups is kept.
  void sort(double skin, const ForEach& for_each);
  // `j` are the packed particles, prepared: their columns in the order of the last sort().
  void arrange(const PackedSide& j);

  // Groups of i; group k has positions [k * SiteTree::kLeaf, ...) of this order of the chosen ones.
  std::int64_t groups() const { return i_tree().leaves(); }
  const std::vector<int>& order_of_i() const { return i_tree().numbers(); }

  // The j of one group, ready for the kernel.
  struct Gathered {
    explicit Gathered(const KernelSource& source) : columns(source, Role::InputJ) {}
    std::vector<int> positions;  // in the sorted order
    std::vector<int> numbers;    // in the caller's array, parallel to the columns
    PackedSide columns;
    std::int64_t capacity = 0;
  };
  // Of different groups in several threads at once.
  void gather(std::int64_t group, Gathered& gathered);

  // The number of a group's pairs within the proved reach, compared in double precision, exclusions included.
  std::int64_t pairs_within(std::int64_t group) const;
  // The pairs that pass the kernel's own comparisons of distances (nbcc_within), but for exclusions; the j of an i in
  // rising order. After sort() and arrange(). `given` has the prepared i in their order, and their numbers.
  FoundPairs find_pairs(const nbcc_kernel_arguments& given, const LeftOut* left_out, std::int64_t ni,
                        const ForEach& for_each);

 private:
  struct Extent {
    bool any = false;  // somebody is somewhere
    std::array<double, kMostAxes> low{}, high{};
  };
  // A side's coordinates, and its reaches where it has any, by row.
  struct Located {
    Extent settle(std::int64_t begin, std::int64_t end);
    std::vector<char> nowhere;  // nonzero: has another's place
    std::vector<double> values;
    std::vector<double*> rows;
    double reach(std::int64_t k) const { return rows.back()[k]; }
    double size(std::int64_t k) const;  // the largest absolute coordinate
    std::int64_t count = 0;
    std::array<double, kMostAxes> low{}, high{};
  };
  bool locate_side(nbcc_locate_function locate, const nbcc_kernel_arguments& given, std::int64_t count,
                   const ForEach& for_each, Located& side);

  // The caller's difference of positions of j and i, and a short copy of it.
  struct Apart {
    Place difference{}, image{};
  };
  Apart apart(const Located& a, std::int64_t i, const Located& b, std::int64_t j) const;
  double share_of_pairs() const;  // that a search would test
  const SiteTree& i_tree() const { return i_tree_ ? *i_tree_ : *j_tree_; }

  const KernelSource& source_;
  const CpuCode& code_;
  SearchSpace space_;
  Located i_, j_;
  std::optional<SiteTree> i_tree_, j_tree_;  // no tree of i: they are the j
  PackedSide sorted_j_;

  // Of the last sort().
  double skin_ = 0;
  SearchSpace sorted_space_;
  double longest_period_ = 0;            // the largest length of the box, component of a lattice vector, or skin
  std::vector<double> i_then_, j_then_;  // where they were
  std::vector<std::vector<int>> found_;  // by group, when it has been gathered; empty without a skin
};

}  // namespace nbcc
