// Node -> an expression that a user may have written: "2 * max(hi, hj)". For messages; long expressions are truncated.
// Tested by tests/unit/compiler/ir/text/expression_text_test.cpp.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {
enum class Sizes : bool { Bare, AsAbs };  // |x| is written as x (for lengths), or as abs(x)
// `graph` is the pair graph of a pipeline with these fields. `tables`: the tables of its lookups; without them an
// element is "an element of a param". The maximum of elements of one row or column is "the largest of rc[ti]", "...
// rc[][tj]".
std::string expression_text(const std::vector<Field>& fields, const Graph& graph, NodeId id, Sizes sizes = Sizes::AsAbs,
                            std::span<const Table> tables = {});
}  // namespace nbcc
