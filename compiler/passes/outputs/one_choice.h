// Pipelines whose outputs all choose by one value: nearest neighbours, best matches. Tested by
// tests/unit/compiler/passes/outputs/one_choice_test.cpp.
#pragma once
#include <optional>

#include "compiler/ir/ir.h"

namespace nbcc {

struct OneChoice {
  NodeId value = kNone, guard = kNone;
  bool is_minimum = true;       // the least values are chosen, else the greatest
  int first = -1, indices = 0;  // first component and length of the argmin or argmax that keeps the most indices; -1, 0
};
// Empty: not all outputs are the min or argmin (or max or argmax) of one real value under one guard, or payloads of
// these argmins.
std::optional<OneChoice> one_choice(const Pipeline& pipeline);

// The pipeline with two outputs alone, without finish(): nbcc_chosen, the argmin or argmax that has the most indices,
// and its payload nbcc_value, the values of the chosen pairs. `choice` must have indices.
Pipeline choice_and_values(const Pipeline& pipeline, const OneChoice& choice);

}  // namespace nbcc
