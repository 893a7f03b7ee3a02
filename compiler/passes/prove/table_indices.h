// Pipeline -> the indices at which it reads tables, as values of single particles: with them a run checks whether an
// index of its particles exceeds a table. The parsed pipeline is read, in which every such index is clamped to 0 ..
// last element (source/lower_table.cpp). Tested by tests/unit/compiler/passes/prove/table_indices_test.cpp.
//
// A lookup counts only where its value is used: under the conditions of the selections, guards and logic above the
// lookup. The index of a particle is checked where all those conditions hold that depend on this particle alone. With
// `if (ti >= 0) f += e[ti][tj]` a ti of -1 is no error; with `if (r2 < rc2) f += e[ti][tj]` every ti must be a valid
// index, however far its particle is from others.
#pragma once
#include <array>
#include <vector>

#include "compiler/index_check.h"
#include "compiler/ir/ir.h"

namespace nbcc {

struct TableIndices : IndexChecks {
  // A value of one particle, and the condition under which it counts.
  struct Range {
    NodeId value = kNone, condition = kNone;
    bool operator==(const Range&) const = default;
  };
  Graph graph;  // of the nodes below; inputs, params and tables are those of the pipeline
  std::array<std::vector<Range>, kIndexSides> of_side;
};

TableIndices find_table_indices(const Pipeline& pipeline);

}  // namespace nbcc
