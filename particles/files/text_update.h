// A text table with the outputs of a run among its columns. Everything else in the text stays as it is, byte by byte:
// words, gaps, comments, line ends.
// Tested by tests/unit/update_text_test.cpp.
#pragma once
#include <string>
#include <string_view>

#include "particles/files/text_table.h"
#include "particles/particle_table.h"

namespace nbcc {

// Columns of the table whose names the text has are replaced word by word; the others are added behind the last word of
// each line. The attributes, the record of a run, become comments in front of all lines, or take the place of the last
// record of that pipeline. `style` is that of a text with one column only. Throws FileError.
std::string update_text(std::string_view bytes, const std::string& path, const ParticleTable& results, TextStyle style);

}  // namespace nbcc
