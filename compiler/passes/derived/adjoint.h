// Reverse-mode differentiation of pipelines. L is any scalar function of a pipeline's outputs, and d_X is dL/dX.
// adjoint_pipeline() makes a pipeline that computes d_X for inputs and params X (d_xi, d_xj, d_eps) as sums over pairs.
// That pipeline has the inputs of the first pipeline and, for each i, these inputs:
//   d_NAME    for each output that L depends on
//   image_NAME_0, image_NAME_1, image_NAME_2  with every_image(), beside at_NAME: the image_index of the extreme
//   raw_NAME  the output before finish(), where derivatives need it; without finish() NAME itself
//   z_NAME    for a softmax: the logarithm of the sum of its weights
//   at_NAME   for a minimum or maximum: the j_index of the extreme; for several components at_NAME_0, at_NAME_1 ...
//             For an output(at): the indices that its argmin or argmax keeps
//   zeros_NAME, others_NAME  for a product: the number of its factors that are 0, and the product of the others
// A d_NAME of results of pairs is an input of pairs, of a histogram of the run a param. For a total that is a minimum
// or maximum (or a logsumexp with finish()) the forward pipeline has the values i_NAME of each i which the total
// reduces: an adjoint takes d_i_NAME. Except d_NAME these are outputs of the pipeline that forward_pipeline() makes. If
// a field of the first pipeline has one of these names, the new field gets another name (raw_NAME_2, dd_X); programs
// therefore read AdjointMeaning instead of names. Guards are kept, and with them the neighbourhood proof. Adjoint
// pipelines can be differentiated again. Tested by tests/unit/compiler/passes/derived/adjoint_test.cpp.
#pragma once
#include "compiler/passes/derived/exchange.h"

namespace nbcc {

// The pipeline with the additional outputs that adjoints need.
Adjoint forward_pipeline(const Pipeline& pipeline, const AdjointChoice& choice);
// A pipeline whose outputs are d_X for each X of `by`; for AdjointSide::Tangent t_NAME for each output of `of`, the
// rate of the output when each X of `by` has the rate t_X, an input in X's role.
Adjoint adjoint_pipeline(const Pipeline& pipeline, const AdjointChoice& choice, AdjointSide side);

}  // namespace nbcc
