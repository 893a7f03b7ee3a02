// Running error analysis of a graph: computes the value of each node and a bound of its rounding error, in double.
//
// The error of a node is the rounding of its operation plus the effect of its arguments' errors. That effect is found
// by evaluating the operation with every combination of arguments shifted up and down by their errors. So a comparison
// is uncertain if its sides are closer than their errors, a select with an uncertain condition may be wrong by the
// difference of its branches, and a quotient that is rounded to an integer may be wrong by 1. The only property needed
// of an operation is its rounding error.
#pragma once
#include <array>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/options.h"
#include "compiler/passes/facts/image_shift.h"
#include "compiler/target.h"

namespace nbcc {

// [output component][asked i]
using Figures = std::vector<std::vector<double>>;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();  // an error or a limit that nothing bounds

double epsilon_of(Precision precision);

class RunningError {
 public:
  // The value and error of a node for one pair.
  struct Number {
    double value = 0, error = 0;
  };
  using Leaf = std::function<Number(const Node& leaf, int k)>;

  // `tables`: the elements of the pipeline's tables. `width`: the largest number of pairs in a batch.
  RunningError(const Graph& graph, const std::vector<NodeId>& roots, const Options& options, const Target& target,
               const std::vector<std::vector<double>>& tables, int width);

  // Computes all nodes for the batch of pairs k = 0 .. count-1; count <= width. `leaf` returns the leaves.
  void compute(int count, const Leaf& leaf);
  Number at(NodeId id, int k) const {
    return {values_[std::size_t(id)][std::size_t(k)], errors_[std::size_t(id)][std::size_t(k)]};
  }

 private:
  void compute_node(NodeId id, int count);
  static double low_float_error(double a, double b);
  void bound_box_image(NodeId id, const ImageShift& shift, int count);
  void bound_lattice_image(NodeId id, int count);
  bool add_errors_of_sum_or_product(NodeId id, const std::array<const double*, 3>& args, int count);
  void add_argument_errors(NodeId id, const std::array<const double*, 3>& args, int count);
  double leaf_error(const Node& leaf, const Number& number) const;
  double roundings(const Node& node) const;  // relative to the result
  double epsilon(Type type) const;
  std::span<const double> table_of(const Node& node) const;

  const Graph& graph_;
  Options options_;
  bool fused_;
  const std::vector<std::vector<double>>& tables_;
  double estimate_ = 0;  // relative error of the hardware's reciprocal square root estimate, without correction
  std::vector<bool> needed_;
  std::vector<std::vector<double>> values_, errors_;  // [node][k]
  std::array<std::vector<double>, 3> perturbed_;
  std::vector<double> outcome_;
};

}  // namespace nbcc
