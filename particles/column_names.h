// The syntax of column names: in --columns ("id,m,x[3],v[3]"), in a header line, in the first row of a CSV file.
//
//   name       one number per particle           name:float    with its element type (double, float, int32, int64)
//   name[3]    three numbers per particle        name:float[3] both
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

  // The written type if there is one, else int64 for an id, else `otherwise`.
  ElementType type_or(ElementType otherwise) const;
  bool operator==(const ColumnName&) const = default;
};

// Parses one word; words are not gathered into vectors. Nothing if the word is not a column name.
std::optional<ColumnName> parse_column_name(std::string_view word);

// Parses a row of words; x[0] x[1] x[2] and x y z become one column each. Empty if a word is not a column name.
std::vector<ColumnName> gather_columns(const std::vector<std::string_view>& words);

// The number of words that each column of gather_columns() was made from.
std::vector<std::size_t> words_of_columns(const std::vector<std::string_view>& words);

// Parses the value of --columns and gathers its words. Throws UsageError, which names the faulty word.
std::vector<ColumnName> parse_columns(std::string_view text);

// The column in the syntax of parse_columns: "near:int64[2]". The type is omitted where type_or(Double) gives it.
std::string spell_column(const std::string& name, ElementType type, int components);

// The number of words in a row, skipped words included.
std::int64_t words_per_row(const std::vector<ColumnName>& columns);

}  // namespace nbcc
