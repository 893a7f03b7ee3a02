// Dump files of LAMMPS (dump atom, dump custom): frames of items such as "ITEM: TIMESTEP", as text.
// Tested by tests/unit/particles/files/text/lammps_dump_test.cpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "particles/files/text/frames.h"
#include "particles/files/text/text_rows.h"
#include "particles/particle_table.h"

namespace nbcc {

// True if the file begins with an item: "ITEM: TIMESTEP", "ITEM: UNITS" or "ITEM: TIME".
bool looks_like_dump(std::string_view bytes);

// The frames of a file. Throws FileError if the bytes are no text.
std::vector<ParticleFrame> frames_of_dump(std::string_view bytes, const std::string& path);

// Decodes one frame. Rows keep their order. Three words x y z, vx vy vz, fx fy fz ... become one column x, v, f ...;
// ix iy iz becomes `image`, and c_name[1] c_name[2] ... become c_name. The positions x are, in this order of
// preference: x y z; xs ys zs (scaled by the box, which is undone); xu yu zu (unwrapped); xsu ysu zsu (both).
// options.columns, if given, names the words of a row instead; then nothing is scaled. TIMESTEP, units, time and the
// box become attributes: "xlo xhi", "xy xz yz" or "avec" as in data files, and "boundary" (pp ff ...). Throws FileError
// with line and column.
ParticleTable decode_dump(std::string_view frame, const std::string& path, const TextOptions& options = {},
                          long first_line = 1);

}  // namespace nbcc
