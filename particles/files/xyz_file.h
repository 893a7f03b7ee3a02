// XYZ files of molecular dynamics: the number of atoms, a comment, a row for each atom. Extended ones (extxyz) say in
// the comment what stands in a row: Properties=species:S:1:pos:R:3:charge:R:1.
#pragma once
#include <string>
#include <string_view>

#include "particles/files/text_rows.h"
#include "particles/particle_table.h"

namespace nbcc {

// The columns have nbcc's names (type, x, v, m, q, id), beside those in the file. Without Properties a row is the
// species and three coordinates; options.columns names its words in place of either. Lattice and the other keys become
// attributes. One frame only. Throws FileError with line and column.
ParticleTable decode_xyz(std::string_view bytes, const std::string& path, const TextOptions& options = {});

}  // namespace nbcc
