// What the texts of all backends spell alike: types of columns, literals of whole numbers, parts of lengths.
// Tested by tests/unit/spelling_test.cpp.
#pragma once
#include <functional>
#include <string>

#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"

namespace nbcc {

// "float", "double", "int", or "index", which every kernel's text defines to have 64 bits.
const char* c_name(Element element);

// For 64 bits; what is beyond them becomes the largest or the smallest number that there is.
std::string whole_literal(double value);

// `arguments` stands in front of the kernel's arguments, as in "a->"; the index counts all rows.
std::string table_element(const PlacedTable& table, const std::string& arguments, const std::string& index);

// What a length that images are shifted by lacks in working precision, if it is a param or a constant. `arguments`
// stands in front of the kernel's arguments, as in "a->"; the backend defines lower_part(double).
std::string lower_part_of_length(const Graph& graph, NodeId length, const char* arguments);

// In mixed precision, a cell or an image with the lower parts of what it is made of (templates/cell.h.in). A value's
// lower part stands in a variable of its name with an l behind; a difference's parts have an s and an e.
std::string vectors_with_parts(const Plan& plan, const Node& node,
                               const std::function<std::string(NodeId)>& value_name);

}  // namespace nbcc
