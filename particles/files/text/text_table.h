// Tables of numbers as text: whitespace or commas separate the numbers, '#' begins a comment.
//
// Column names come from the caller, from the last comment above the rows that has a name for each number of a row
// ("# id m x[3] v[3]"), or from a first row of names (CSV); particles/column_names.h states their syntax. Without names
// the table is unnamed. A comment "# key: value" above the rows becomes an attribute. CSV and TSV are written without
// comments and without element types, as RFC 4180 and other programs have them.
#pragma once
#include <string>
#include <string_view>

#include "particles/files/text/text_rows.h"
#include "particles/particle_table.h"

namespace nbcc {

// options.columns, if given, overrides the file's column names. A column of type names becomes a column of the numbers
// that options.types assigns, and is omitted unless options.choice takes it. A column of integers only, some of them
// not exact in a double, becomes int64. Throws FileError with line and column.
ParticleTable decode_text(std::string_view bytes, const std::string& path, const TextOptions& options = {});

// The columns of a text table and the line that names them.
struct TextLayout {
  std::vector<ColumnName> columns;  // the columns of a row, in order
  long header_line = 0;             // the line that names the columns, from 1; 0 if no line does
  bool header_is_row = false;       // the header is a row of names (CSV); else it is a comment
  std::int64_t rows = 0;
};
// Throws the same exceptions as decode_text.
TextLayout text_layout(std::string_view bytes, const std::string& path, const TextOptions& options);

enum class TextStyle { Plain, Csv, Tsv };

// Appends component `c` of row `row`: 17 significant digits for double and 9 for float, so that reading gives the same
// number.
void append_number(std::string& text, const ParticleColumn& column, std::int64_t row, int c);

// "# key: value"
std::string attribute_line(const std::string& key, const std::string& value);

std::string encode_text(const ParticleTable& table, TextStyle style = TextStyle::Plain);

}  // namespace nbcc
