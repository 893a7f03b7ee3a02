// A pipeline with results per pair, output(pair) -> two without: one of its sums, and one that gives the results, whose
// i are the listed pairs. The runtime (runtime/sum/derived/pair_values.h) gathers the inputs of each pair for the
// second. Tested by tests/numeric/pair_values_test.cpp.
#pragma once
#include <optional>

#include "compiler/ir/ir.h"
#include "compiler/made_inputs.h"

namespace nbcc {

struct PairValuesPipelines {
  std::optional<Pipeline> sums;  // empty: all outputs are per pair
  // Has as inputs of i the inputs of i, of j and of pairs, in this order and under their names, and kIndexOfI and
  // kIndexOfJ if the results depend on them; there is one j without inputs.
  Pipeline values;
};

// Requires Pipeline::has_pair_values().
PairValuesPipelines pair_values_pipelines(const Pipeline& pipeline);

}  // namespace nbcc
