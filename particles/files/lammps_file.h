// Data files of LAMMPS (read_data, write_data): a header with counts and the box, then sections.
#pragma once
#include <string>
#include <string_view>

#include "particles/files/text_rows.h"
#include "particles/particle_table.h"

namespace nbcc {

// The rows of the section Atoms in their order, with the columns of its style ("Atoms # full"): id, mol, type, q, x,
// image (the counts of box crossings, where they stand); v of the section Velocities, by id; m of the section Masses,
// by type. options.columns names the words of a row of Atoms in place of the style. The box becomes attributes ("xlo
// xhi"), also where it is triclinic. Types given by their labels become numbers. Throws FileError with line and column.
ParticleTable decode_lammps(std::string_view bytes, const std::string& path, const TextOptions& options = {});

// Whether the header counts atoms: files of the ending .data may also be tables.
bool looks_like_lammps(std::string_view bytes);

}  // namespace nbcc
