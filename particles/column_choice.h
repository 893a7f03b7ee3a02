// Which columns of a file that names its arrays (.npz, HDF5, structured .npy) are read. The others need not be such
// that they could be: they may have any type, length and size.
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
  std::vector<std::string> names;  // where not all
  std::string welcome;             // as well, if it is a column of numbers as long as the others; "" is none

  ColumnChoice() = default;
  // Those of --columns, of which none means all.
  ColumnChoice(const std::vector<ColumnName>& columns) : all(columns.empty()) {
    for (const ColumnName& column : columns) names.push_back(column.name);
  }

  bool takes(std::string_view name) const { return all || std::ranges::find(names, name) != names.end(); }
  // By either of its names, of which the second may be "".
  bool takes(std::string_view name, std::string_view also) const {
    return takes(name) || (!also.empty() && takes(also));
  }
};

// What a file says of a column before its numbers are read.
struct FileColumn : ColumnOfFile {
  bool readable = true;              // whether the numbers are such as are read
  bool listed = true;                // not text or a grid, of which it is not said that they are there
  std::function<ColumnData()> read;  // throws FileError
};

// Reads those that are chosen; `unnamed`: the only one, whose name is no name.
ParticleTable read_columns(const std::vector<FileColumn>& columns, const ColumnChoice& choice, bool unnamed);

}  // namespace nbcc
