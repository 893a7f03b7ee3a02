// Node -> what a user may have written for it: "2 * max(hi, hj)". For messages; long expressions are cut short.
// Tested by tests/unit/expression_text_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {
enum class Sizes : bool { Bare, AsAbs };  // how the size of a number is written: x, as one speaks of lengths, or abs(x)
// Of a graph of pairs of a pipeline with these fields.
std::string expression_text(const std::vector<Field>& fields, const Graph& graph, NodeId id,
                            Sizes sizes = Sizes::AsAbs);
}  // namespace nbcc
