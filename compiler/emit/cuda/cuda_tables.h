// Tables as pairs read them on a GPU. Those that are always read at the same places stand side by side, so that one
// load fetches an element of each, and places are counted in bytes: what a row and a column contribute is then made
// once per particle, and a pair adds the two. Part of emit_cuda.
#pragma once
#include <cstdint>
#include <map>

#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"
#include "compiler/options.h"

namespace nbcc {

// By the pipeline's number, those that pairs read: `offset` from the beginning of the first.
std::map<int, PlacedTable> tables_of_pairs(const Pipeline& pipeline, Precision precision);

// The same pipeline, but that a Lookup of a pair takes bytes: of the row from the first one, and of the column.
Pipeline with_byte_offsets(Pipeline pipeline, const std::map<int, PlacedTable>& tables);

// Behind the plan's other tables, as Plan::tables_of_pairs, and Plan::loaded_with.
void add_tables_of_pairs(Plan& plan, std::map<int, PlacedTable> tables);

// Where they are among all tables; no bytes where there are none.
struct TableRange {
  std::int64_t begin = 0, bytes = 0;
  // Of a block's shared memory they may take a third.
  bool fits_shared() const { return bytes > 0 && bytes <= 16 << 10; }
};
TableRange range_of_pairs(const Plan& plan);

}  // namespace nbcc
