// Tables of numbers as text: whitespace or commas between the numbers, '#' begins a comment.
//
// The names of the columns come from the caller, from a comment directly above the first row ("# id m x[3] v[3]"),
// or from a first row of names (CSV); particles/column_names.h tells how names are written. Without names the table is
// unnamed. "# key: value" above the rows becomes an attribute.
#pragma once
#include <string>
#include <string_view>

#include "particles/particle_table.h"
#include "particles/text_rows.h"

namespace nbcc {

// The caller's columns win over the file's. A column of names is one of the numbers that options.types gives them, and
// left out where nobody asks for it. Throws FileError with line and column.
ParticleTable decode_text(std::string_view bytes, const std::string& path, const TextOptions& options = {});

enum class TextStyle { Plain, Csv, Tsv };

// 17 significant digits for double and 9 for float, so that the numbers come back as they were.
std::string encode_text(const ParticleTable& table, TextStyle style = TextStyle::Plain);

}  // namespace nbcc
