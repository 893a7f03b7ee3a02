// An output component -> the terms of its derivative by the values of one pair. Part of adjoint.cpp and tangent.cpp,
// which differentiate these values: in reverse mode, and in forward mode.
#pragma once
#include <vector>

#include "compiler/passes/derive/derivative.h"
#include "compiler/passes/derived/added_inputs.h"
#include "compiler/passes/passes.h"

namespace nbcc {

class OutputTerms {
 public:
  // `graph`: the pair graph of the new pipeline, which gets the nodes. All arguments must outlive this object.
  OutputTerms(const Pipeline& forward, const AddedInputs& added, const InputMap& map, Graph& graph)
      : forward_(forward), added_(added), map_(map), graph_(graph) {}

  // Adds terms adjoint * weight * dy of the pair's values y on which component c depends; all have the contribution's
  // guard. `adjoint`: dL/d(component before finish()); unused for a histogram, whose elements have one each.
  void add(int c, NodeId adjoint, Exchange& copy, bool exchanged, std::vector<Weighted>& terms);

 private:
  NodeId times(NodeId a, NodeId b) { return make_folded(graph_, Op::Mul, a, b); }
  NodeId both(NodeId a, NodeId b) { return a == kNone ? b : graph_.binary(Op::And, a, b); }
  NodeId saved(SavedKind kind, int c, bool exchanged);
  NodeId is_chosen(int c, Exchange& copy, bool exchanged);
  NodeId element_of_given(const Field& histogram, int c, NodeId element, bool exchanged);
  NodeId weight_in_product(NodeId value, int c, bool exchanged);
  void add_softmax(int c, NodeId value, NodeId adjoint, NodeId guard, Exchange& copy, bool exchanged,
                   std::vector<Weighted>& terms);

  const Pipeline& forward_;
  const AddedInputs& added_;
  const InputMap& map_;
  Graph& graph_;
};

}  // namespace nbcc
