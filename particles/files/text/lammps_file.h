// LAMMPS data files (read_data, write_data): a header with counts and the simulation box, then sections.
#pragma once
#include <string>
#include <string_view>

#include "particles/files/text/text_rows.h"
#include "particles/particle_table.h"

namespace nbcc {

// Reads the rows of the section Atoms, in their order. The columns follow from its style ("Atoms # full"): id, mol,
// type, q, x, and image if the rows have image flags. v is read from the section Velocities, by id; m from the section
// Masses, by type. options.columns, if given, names the words of a row of Atoms instead of the style. The header lines
// of the box become attributes ("xlo xhi"), also those of a triclinic box. Type labels become type numbers. Throws
// FileError with line and column.
ParticleTable decode_lammps(std::string_view bytes, const std::string& path, const TextOptions& options = {});

// True if the header has a line "N atoms". Files named *.data may also be plain tables.
bool looks_like_lammps(std::string_view bytes);

}  // namespace nbcc
