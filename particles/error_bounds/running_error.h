// How wrong a graph's values may be, node by node, when each operation rounds: a running error analysis in double
// precision beside the values themselves.
//
// The error of a node is what its arguments' errors do to it (tried out, all arguments together, each upwards and
// downwards) and the rounding of its own operation. So a comparison is uncertain where its sides are closer than their
// errors, a choice by an uncertain comparison may be wrong by the difference of its branches, and a rounded quotient by
// a whole step: nothing has to be said about any operation but how well it is rounded.
#pragma once
#include <array>
#include <functional>
#include <span>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/options.h"
#include "compiler/passes/image_shift.h"
#include "compiler/target.h"

namespace nbcc {

// [output component][asked i]
using Figures = std::vector<std::vector<double>>;

double epsilon_of(Precision precision);

class RunningError {
 public:
  // A leaf's value and error at position k.
  struct Number {
    double value = 0, error = 0;
  };
  using Leaf = std::function<Number(const Node& leaf, int k)>;

  // `tables`: the numbers of the pipeline's tables.
  RunningError(const Graph& graph, const std::vector<NodeId>& roots, const Options& options, const Target& target,
               const std::vector<std::vector<double>>& tables, int width);

  // Positions 0 .. count-1, at most width.
  void compute(int count, const Leaf& leaf);
  Number at(NodeId id, int k) const {
    return {values_[std::size_t(id)][std::size_t(k)], errors_[std::size_t(id)][std::size_t(k)]};
  }

 private:
  void compute_node(NodeId id, int count);
  static double lower_parts(double a, double b);
  void bound_image(NodeId id, const ImageShift& shift, int count);
  void bound_shortest_copy(NodeId id, int count);
  void add_argument_errors(NodeId id, const std::array<const double*, 3>& args, int count);
  double leaf_error(const Node& leaf, const Number& number) const;
  double roundings(const Node& node) const;  // relative to the result
  double epsilon(Type type) const;
  std::span<const double> table_of(const Node& node) const;

  const Graph& graph_;
  Options options_;
  bool fused_;
  const std::vector<std::vector<double>>& tables_;
  double estimate_ = 0;  // relative error of a bare estimate of a root
  std::vector<bool> needed_;
  std::vector<std::vector<double>> values_, errors_;  // [node][k]
  std::array<std::vector<double>, 3> moved_;
  std::vector<double> outcome_;
};

}  // namespace nbcc
