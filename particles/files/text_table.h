// Tables of numbers as text: whitespace or commas between the numbers, '#' begins a comment.
//
// The names of the columns come from the caller, from a comment directly above the first row ("# id m x[3] v[3]"),
// or from a first row of names (CSV); particles/column_names.h tells how names are written. Without names the table is
// unnamed. "# key: value" above the rows becomes an attribute.
#pragma once
#include <string>
#include <string_view>

#include "particles/files/text_rows.h"
#include "particles/particle_table.h"

namespace nbcc {

// The caller's columns win over the file's. A column of names is one of the numbers that options.types gives them, and
// left out where nobody asks for it. A column of digits alone, of which some are beyond 2^53, is int64. Throws
// FileError with line and column.
ParticleTable decode_text(std::string_view bytes, const std::string& path, const TextOptions& options = {});

// Which column is where in a text.
struct TextLayout {
  std::vector<ColumnName> columns;  // of the words of a row, in order
  long header_line = 0;             // that names them, counted from 1; 0 where no line does
  bool header_is_row = false;       // else a comment
  std::int64_t rows = 0;
};
// Throws what decode_text throws.
TextLayout text_layout(std::string_view bytes, const std::string& path, const TextOptions& options);

enum class TextStyle { Plain, Csv, Tsv };

// 17 significant digits for double and 9 for float, so that the numbers come back as they were.
// Row `row`, component `c` of a column, so.
void append_number(std::string& text, const ParticleColumn& column, std::int64_t row, int c);

// "# key: value"
std::string attribute_line(const std::string& key, const std::string& value);

std::string encode_text(const ParticleTable& table, TextStyle style = TextStyle::Plain);

}  // namespace nbcc
