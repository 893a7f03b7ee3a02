// The images of a periodic sum: its cell, whose near images act as pairs, and the operator through which all others
// act. Both depend on params and, where directions are open, on the extent of the particles. Used by FarRun. Tested by
// tests/numeric/periodic_sum_test.cpp.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/far_kernels.h"
#include "runtime/far/periodic/far_operator.h"
#include "runtime/sum/plan/derived_sum.h"

namespace nbcc {

class FarImages {
 public:
  // `kernels` must outlive this object, and have periods; `measured`: of kernels.measured.
  FarImages(const FarKernels& kernels, std::string pipeline, std::span<const FieldLayout> fields,
            std::unique_ptr<DerivedSum> measured, double tolerance);

  // Reads the periodic vectors. Returns the open directions, along which the next function needs the extents.
  const std::vector<CellVector>& read_vectors(std::span<const double> params);
  // The cell of the vectors, whose open directions have no extent: into which period particles are moved does not
  // depend on it.
  PeriodicCell cell_without_extents(std::span<const double> params);
  // For the cell of the vectors, and these params; kept from run to run. Throws UsageError if there is no periodic sum.
  const std::shared_ptr<const FarOperator>& far_operator(std::span<const double> params,
                                                         std::span<const OpenExtent> extents);
  // An operator of the same cell and params with about half the reach of near images, made for a tenth of the
  // tolerance: the errors of both have nothing in common. Null: no order is so exact, or the grid has too many points.
  const std::shared_ptr<const FarOperator>& reference_operator();
  // True for the params of periodic vectors.
  bool is_of_cell(std::size_t param) const { return params_of_cell_.contains(int(param)); }
  // The number of near images; before there is an operator, the number in a cube.
  double count() const { return operator_ ? double(operator_->tables.cell.near_images().size()) : 125; }
  // The number of near images of the reference operator, or of the operator if there is no other.
  double reference_count() const;
  const FarOperator* last() const { return operator_.get(); }  // null: there is none yet
  const std::shared_ptr<const FarOperator>& shared() const { return operator_; }
  // [image]: the way from a particle to its near image; the first is 0.
  static std::vector<CellVector> shifts(const PeriodicCell& cell);
  // [image of shifts()]: true if it is a near image of `inner`, too, a cell with less reach.
  static std::vector<char> are_near(const PeriodicCell& cell, const PeriodicCell& inner);

 private:
  void make_cell(std::span<const OpenExtent> extents);
  // sums[sum][i]: over all j, with 1 as this weight of j and 0 as all others.
  void sum_with_weight(int weight, std::span<const double> params, std::int64_t ni, const double* position_i,
                       std::int64_t nj, const double* position_j, double* sums);
  std::vector<FarOperator::Component> find_components(std::span<const double> params);
  PeriodicKernel kernel(std::span<const double> params, std::span<const FarOperator::Component> components);

  const FarKernels& kernels_;
  const std::string pipeline_;
  std::set<int> params_of_cell_;
  std::vector<std::string> output_of_sum_;  // the name of its output
  std::vector<int> group_of_sum_;           // sums of one output with one factor are of a group
  std::unique_ptr<DerivedSum> measured_;
  const double tolerance_;
  std::vector<CellVector> vectors_, open_;
  std::vector<CellVector> vectors_of_cell_;  // the vectors of cell_
  std::optional<PeriodicCell> cell_;
  std::vector<OpenExtent> extents_;                              // of cell_
  std::vector<double> params_;                                   // of operator_
  bool is_current_ = false;                                      // operator_ is of cell_
  std::shared_ptr<const FarOperator> operator_;                  // null: none for cell_
  std::shared_ptr<const FarOperator> reference_, reference_of_;  // reference_operator() of an operator
};

}  // namespace nbcc
