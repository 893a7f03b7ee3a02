// Pipeline -> the indices at which it reads tables, as numbers of single particles: what a run must know of its
// particles to tell that no index leads out of its table. Read from the pipeline as it has been parsed, where every
// such index is kept within 0 and the last element (source/lower_table.cpp). Tested by
// tests/unit/table_indices_test.cpp.
//
// A lookup counts only where its value is used: under the conditions of the selections, guards and logic above the
// lookup. A particle's index is checked where those of these conditions hold that depend on this particle alone. With
// `if (ti >= 0) f += e[ti][tj]` a ti of -1 is no error, and with `if (r2 < rc2) f += e[ti][tj]` every ti must have its
// element, however far its particle is from others.
#pragma once
#include <array>
#include <vector>

#include "compiler/index_check.h"
#include "compiler/ir/ir.h"

namespace nbcc {

struct TableIndices : IndexChecks {
  // A number of one particle, and the condition under which it counts.
  struct Range {
    NodeId value = kNone, condition = kNone;
    bool operator==(const Range&) const = default;
  };
  Graph graph;  // of the nodes below; inputs, params and tables are the pipeline's
  std::array<std::vector<Range>, kIndexSides> of_side;
};

TableIndices find_table_indices(const Pipeline& pipeline);

}  // namespace nbcc
