// Formats of particle files that nbcc does not read, recognised by their first bytes or lines, for messages.
// Tested by tests/unit/particles/files/seeming_format_test.cpp.
#pragma once
#include <string>
#include <string_view>

namespace nbcc {

// "it looks like PDB, which nbcc does not read; MDAnalysis or ASE reads it: see ..."; "" if the bytes are of none of
// the known formats. `bytes`: the file or its beginning; `path`: files named POSCAR are recognised by their name.
std::string foreign_format(std::string_view bytes, const std::string& path);

// True if the text is one frame or more of an .xyz file: a number of atoms alone in line 1, a name and three numbers in
// line 3.
bool looks_like_xyz(std::string_view bytes);

}  // namespace nbcc
