// Spellings that all backends share: types of columns, integer literals, lower parts of lengths.
// Tested by tests/unit/compiler/emit/spelling_test.cpp.
#pragma once
#include <functional>
#include <string>

#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"

namespace nbcc {

// "float", "double", "int", or "index", which every kernel source defines as a 64-bit integer.
const char* c_name(Element element);

// A literal of a 64-bit integer; values out of range are clamped to the largest or the smallest int64.
std::string whole_literal(double value);

// An element of a table. `arguments`: prefix of the kernel's arguments, as in "a->"; `index`: of the element, over all
// rows.
std::string table_element(const PlacedTable& table, const std::string& arguments, const std::string& index);

// The lower part of a periodic length: its rounding error in working precision, if it is a param or a constant, else 0.
// `arguments`: prefix of the kernel's arguments, as in "a->"; the backend defines lower_part(double).
std::string lower_part_of_length(const Graph& graph, NodeId length, const char* arguments);

// The displacement of a copy in mixed precision (Plan::copy_shifts): the parts of the difference, and the upper and the
// lower part of the shift.
std::string copy_with_parts(const std::string& difference, const std::string& shift);

// A cell or an image in mixed precision, with the lower parts of its arguments (templates/math/cell.h.in). The lower
// part of a value is the variable with the suffix l; the parts of a difference have the suffixes s (rounded) and e
// (error).
std::string vectors_with_parts(const Plan& plan, const Node& node,
                               const std::function<std::string(NodeId)>& value_name);

}  // namespace nbcc
