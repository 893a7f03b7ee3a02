// Layout of the tables that pairs look up on a GPU. Tables that are always read at the same indices are interleaved, so
// that one vector load reads an element of each. Lookups take byte offsets: those of row and column are computed once
// per particle, and a pair adds the two. Part of emit_cuda.
#pragma once
#include <cstdint>
#include <map>

#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"
#include "compiler/options.h"

namespace nbcc {

// The tables that pairs look up, by the pipeline's number. PlacedTable::offset counts from the beginning of the first.
std::map<int, PlacedTable> tables_of_pairs(const Pipeline& pipeline, Precision precision);

// The same pipeline with Lookups of pairs that take byte offsets: of the row in the table, and of the column in the
// row.
Pipeline with_byte_offsets(Pipeline pipeline, const std::map<int, PlacedTable>& tables);

// Sets Plan::tables_of_pairs, with offsets behind the plan's other tables, and Plan::loaded_with.
void add_tables_of_pairs(Plan& plan, std::map<int, PlacedTable> tables);

// The byte range of the tables of pair lookups among all tables; 0 bytes if there are none.
struct TableRange {
  std::int64_t begin = 0, bytes = 0;
  // The tables may take a third of a block's shared memory.
  bool fits_shared() const { return bytes > 0 && bytes <= 16 << 10; }
};
TableRange range_of_pairs(const Plan& plan);

}  // namespace nbcc
