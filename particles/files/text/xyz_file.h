// XYZ files of molecular dynamics: the number of atoms, a comment line, a row for each atom. In extended XYZ (extxyz)
// the comment names the columns: Properties=species:S:1:pos:R:3:charge:R:1.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "particles/files/text/frames.h"
#include "particles/files/text/text_rows.h"
#include "particles/particle_table.h"

namespace nbcc {

// Columns get nbcc's names (type, x, v, m, q); lookup by the file's name also works. Without Properties a row holds the
// species and three coordinates. options.columns, if given, overrides both. Lattice and the other keys become
// attributes. `bytes` hold one frame, whose first line is line `first_line` of the file. Throws FileError with line and
// column.
ParticleTable decode_xyz(std::string_view bytes, const std::string& path, const TextOptions& options = {},
                         long first_line = 1);

// The frames of a file. Only the numbers of atoms are read, no rows. Throws FileError if the bytes are no text.
std::vector<ParticleFrame> frames_of_xyz(std::string_view bytes, const std::string& path);

}  // namespace nbcc
