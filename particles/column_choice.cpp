// Reads the chosen columns of a file into a table. Entry point: read_columns(). Knows no file formats.
#include "particles/column_choice.h"

#include "particles/file_error.h"

namespace nbcc {

ParticleTable read_columns(const std::vector<FileColumn>& columns, const ColumnChoice& choice, bool unnamed) {
  ParticleTable table;
  const auto take = [&](const FileColumn& column) {
    if (table.columns.empty()) table.rows = column.rows;
    ColumnData data = column.read();
    table.columns.push_back(
        {unnamed ? "data" : column.name, static_cast<int>(column.components), std::move(data), column.name_in_file});
  };
  for (const FileColumn& column : columns) {
    if (!choice.all) table.in_file.push_back(column);
    if (unnamed || choice.takes(column.name, column.name_in_file)) take(column);
  }
  for (const FileColumn& column : columns) {
    const bool is_optional =
        column.name == choice.optional_name && !choice.takes(column.name, column.name_in_file) && column.readable;
    if (!is_optional || table.columns.empty() || column.rows != table.rows) continue;
    try {
      take(column);
    } catch (const BeyondInt64&) {  // such ids are of no use to the run
    }
  }
  if (table.columns.empty() && !table.in_file.empty()) table.rows = table.in_file.front().rows;
  table.unnamed = unnamed;
  return table;
}

}  // namespace nbcc
