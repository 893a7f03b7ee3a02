// Which columns are read of a file that names its arrays (.npz, HDF5, structured .npy). Columns that are not chosen may
// have any type, length and size, because they are not read.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "particles/column_names.h"

namespace nbcc {

struct ColumnChoice {
  bool all = true;
  std::vector<std::string> names;  // the chosen columns, unless `all`
  std::string optional_name;       // also read if it exists, holds numbers and has as many rows as the others; "": none

  ColumnChoice() = default;
  // The columns named by --columns; an empty list chooses all.
  ColumnChoice(const std::vector<ColumnName>& columns) : all(columns.empty()) {
    for (const ColumnName& column : columns) names.push_back(column.name);
  }

  bool takes(std::string_view name) const { return all || std::ranges::find(names, name) != names.end(); }
  // True if either name of the column is chosen; the second name may be "".
  bool takes(std::string_view name, std::string_view name_in_file) const {
    return takes(name) || (!name_in_file.empty() && takes(name_in_file));
  }
};

// What a file states about a column before its numbers are read.
struct FileColumn : ColumnOfFile {
  bool readable = true;              // its type and shape can be read
  bool listed = true;                // messages list it; false for text and for arrays of more than two dimensions
  std::function<ColumnData()> read;  // throws FileError
};

// Reads the chosen columns. `unnamed`: the file holds one array without column names; it is always read.
ParticleTable read_columns(const std::vector<FileColumn>& columns, const ColumnChoice& choice, bool unnamed);

}  // namespace nbcc
