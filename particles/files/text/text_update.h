// Writes the outputs of a run into the columns of an existing text table. All other bytes of the text (words, gaps,
// comments, line ends) stay unchanged.
// Tested by tests/unit/particles/files/text/update_text_test.cpp.
#pragma once
#include <string>
#include <string_view>

#include "particles/files/text/text_table.h"
#include "particles/particle_table.h"

namespace nbcc {

// Columns whose names the text already has are replaced word by word; new columns are appended after the last word of
// each line. The attributes (the record of a run) become comments at the beginning, or replace the earlier record of
// the same pipeline; CSV and TSV keep no record and no element types. `style` gives the separator if the text has only
// one column. Throws FileError.
std::string update_text(std::string_view bytes, const std::string& path, const ParticleTable& results, TextStyle style);

}  // namespace nbcc
