// Magnitudes of the values that a pipeline's source computes, and the products that they allow: fast math may regroup
// products, but a value that regrouping forms must not leave the range of the working precision where the values of the
// source stay well inside.
//
// In logarithms a product is the vector of its exponents: log2|c x^a y^b| = log2|c| + a log2|x| + b log2|y|. If v is a
// value of the source, then v^t with |t| <= 1 is no farther from 1 than v or 1/v, and a point on a line between two
// such vectors has a magnitude between theirs. Tested by tests/unit/compiler/passes/facts/magnitudes_test.cpp.
#pragma once
#include <map>
#include <vector>

#include "compiler/passes/facts/power_product.h"

namespace nbcc {

// log2|value| as a sum over atoms, i.e. nodes that are not products.
struct Magnitude {
  double constant = 0;  // log2 of the coefficient
  Exponents exponents;  // of the atoms; none is 0

  void add(const Magnitude& other, double times);
};

class Magnitudes {
 public:
  // Computes the magnitude of each node that is alive.
  Magnitudes(const Graph& graph, const std::vector<bool>& alive);

  const Magnitude& of(NodeId id) const { return of_[std::size_t(id)]; }
  // True if `m` is, up to a small constant factor, the magnitude of v^t with |t| <= 1 for a value v of the source.
  bool covers(const Magnitude& m) const;
  // The largest t such that the node's powers up to t are covered; at least 1.
  double widest_power(NodeId id) const;

 private:
  struct Formed {
    double length;    // the first exponent of the value
    double constant;  // log2 of the coefficient
  };
  const std::vector<Formed>* along(const Magnitude& m) const;

  std::vector<Magnitude> of_;
  std::map<Exponents, std::vector<Formed>> formed_;  // by direction: exponents divided by the first one
};

}  // namespace nbcc
