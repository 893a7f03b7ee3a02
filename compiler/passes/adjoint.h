// A pipeline -> pipelines that hand derivatives back. Let L be any number that is made of a pipeline's outputs, and d_X
// stand for dL/dX. Who knows d_force for every i gets d_xi, d_xj, d_eps by a sum over pairs again: the pipelines that
// are made here take the inputs of the first one and besides, for each i,
//   d_NAME    of each output that L depends on
//   raw_NAME  what the output was before finish(), where derivatives need it; without finish() NAME itself
//   z_NAME    of a softmax: the logarithm of its weights' sum
//   at_NAME   of a minimum or maximum: the j_index that it comes from; of several components at_NAME_0, at_NAME_1 ...
// and their outputs are d_X. The last three are outputs of the pipeline that forward_pipeline() makes. Names are for
// people, and differ (raw_NAME_2, dd_X) where the first pipeline has a field of that name: what a field holds is said
// by its AdjointMeaning. Guards stay, and with them the proof of a neighbourhood. What is made can be differentiated
// again. Tested by tests/unit/adjoint_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/passes/exchange.h"

namespace nbcc {

// What L depends on and what it is differentiated by; empty: all real outputs whose reduction has a derivative, all
// real inputs and params of the side. `of` may also name outputs that the forward pipeline has besides. Names that are
// wrong throw InvalidAdjoint, and so do derivatives of more than kMaxNodes operations.
struct AdjointChoice {
  std::vector<std::string> of, by;
};

struct Adjoint {
  Pipeline pipeline;
  std::vector<AdjointField> fields;  // those of the pipeline, in its order
};

// The pipeline with the outputs besides that adjoints need.
Adjoint forward_pipeline(const Pipeline& pipeline, const AdjointChoice& choice);
// Its outputs are d_X for each X of `by`.
Adjoint adjoint_pipeline(const Pipeline& pipeline, const AdjointChoice& choice, AdjointSide side);

}  // namespace nbcc
