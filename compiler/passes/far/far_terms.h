// Pipeline -> the terms of its far field: every pair contributes sums of
//
//   factor of i * weight of j * value of the displacement
//
// so that many distant j can act through few weights. Near pairs run the text unchanged; far_pipelines.h makes the
// pipeline of distant pairs from these terms. Tested by tests/unit/runtime/far/far_field_test.cpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/far/far_axes.h"
#include "compiler/passes/far/far_polynomial.h"

namespace nbcc {

struct FarTerms {
  std::vector<FarAxis> axes;        // one to three
  std::vector<NodeId> centred;      // values of j whose means are centres
  std::vector<FarProduct> weights;  // of j
  std::vector<FarProduct> factors;  // of i: applied to sums if both_sides, else inputs of `graph`
  bool both_sides = true;           // no value of i other than its position enters `graph`
  bool needs_one_set = false;       // the text compares i_index and j_index, which only excludes coincident pairs if i
                                    // and j are the same particles
  // Values of pairs. Its inputs of j are the coordinates of the axes, then the weights; its inputs of i the
  // coordinates, then, without both_sides, the factors. Params and tables are the pipeline's.
  Graph graph;
  Type real = Type::Real;    // of its inputs; Double if the text computes anything in Double
  std::vector<NodeId> sums;  // nodes of `graph`, which are summed over j
  // Output component `output` of the pipeline, before finish(), is the sum over its parts of factor * sum.
  struct Part {
    int output = 0, factor = -1, sum = 0;  // factor -1: 1
  };
  std::vector<Part> parts;
};

struct FarReading {
  std::optional<FarTerms> terms;
  FarObstacle obstacle;  // without terms
};
FarReading read_far_terms(const Pipeline& pipeline);

// For users: "mj", "fj.x", "xj*qj"; a vector's components have the vector's name.
std::vector<std::string> weight_names(const Pipeline& pipeline, const FarTerms& terms);

// For users: "linear in mj, both sides".
std::string far_text(const Pipeline& pipeline, const FarTerms& terms);

}  // namespace nbcc
