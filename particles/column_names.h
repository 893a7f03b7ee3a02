// The names of columns as people write them: "id,m,x[3],v[3]", a header line, the first row of a CSV file.
//
//   name       one number per particle           name:float    with its element type (double, float, int32, int64)
//   name[3]    three numbers                     name:float[3] both
//   _          (in --columns) skip one number;   _[2] skips two
//   x[0] x[1] x[2]                               gathered into x[3]
//   x y z, vx vy vz, ax ay az ...                gathered into x[3], v[3], a[3]
// Without a type, "id" and names that end in "_id" are int64, all others double.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "particles/particle_table.h"

namespace nbcc {

struct ColumnName {
  std::string name;  // empty: skipped
  int components = 1;
  std::optional<ElementType> type;  // as written; see type_or

  // The written type, int64 for an id, else the one given.
  ElementType type_or(ElementType otherwise) const;
  bool operator==(const ColumnName&) const = default;
};

// One word without gathering; nothing when it is not the name of a column.
std::optional<ColumnName> parse_column_name(std::string_view word);

// x[0] x[1] x[2] and x y z become one.
std::vector<ColumnName> gather_columns(const std::vector<std::string_view>& words);

// How many of the words each of these columns takes.
std::vector<std::size_t> words_of_columns(const std::vector<std::string_view>& words);

// The value of --columns, gathered. Throws UsageError that names the word.
std::vector<ColumnName> parse_columns(std::string_view text);

// As parse_columns reads it: "near:int64[2]"; the type is left out where type_or(Double) gives it anyhow.
std::string spell_column(const std::string& name, ElementType type, int components);

// How many numbers a row has.
std::int64_t words_per_row(const std::vector<ColumnName>& columns);

}  // namespace nbcc
