// The magnitudes that a text forms, and what follows from them: fast mathematics may regroup products, but a value that
// it forms must not leave the range of the working precision where the text's own values stay well inside.
//
// Seen as logarithms a product is a vector, its factors' exponents: log2|c x^a y^b| = log2|c| + a log2|x| + b log2|y|.
// If v is a value of the text, so are its powers v^t with |t| <= 1 no farther from 1 than v or 1/v, and what lies on a
// line between two such vectors lies between them in magnitude. Tested by tests/unit/magnitudes_test.cpp.
#pragma once
#include <map>
#include <vector>

#include "compiler/passes/power_product.h"

namespace nbcc {

// log2|value| as a sum over atoms, the nodes that are no products.
struct Magnitude {
  double constant = 0;  // log2 of the coefficient
  Exponents exponents;  // of the atoms; none is 0

  void add(const Magnitude& other, double times);
};

class Magnitudes {
 public:
  // Of all nodes of the graph that are alive.
  Magnitudes(const Graph& graph, const std::vector<bool>& alive);

  const Magnitude& of(NodeId id) const { return of_[std::size_t(id)]; }
  // Whether the magnitude is that of a power v^t, |t| <= 1, of a value v of the text, but for a small constant factor.
  bool covers(const Magnitude& m) const;
  // The largest t such that the node's powers up to t are covered; at least 1.
  double widest_power(NodeId id) const;

 private:
  struct Formed {
    double length;    // the first exponent
    double constant;  // log2 of the coefficient
  };
  const std::vector<Formed>* along(const Magnitude& m) const;

  std::vector<Magnitude> of_;
  std::map<Exponents, std::vector<Formed>> formed_;  // by direction: exponents that begin with 1
};

}  // namespace nbcc
