// Table lookups -> expressions over vectors, which load an element for every lane.
#pragma once
#include <string>

#include "compiler/emit/cpu/cpu_expression.h"
#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"

namespace nbcc {

// The functions that the expressions call.
std::string cpu_tables(const CpuVectors& vectors);

// `row`, `column`: names of index vectors.
std::string cpu_lookup(const Graph& graph, const Node& node, const PlacedTable& table, const CpuVectors& vectors,
                       const std::string& row, const std::string& column);

}  // namespace nbcc
