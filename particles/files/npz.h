// NumPy's .npz: a zip archive of .npy arrays, one for each column.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"
#include "particles/particle_table.h"

namespace nbcc {

// `bytes` is the whole archive, stored or deflated. Only members that end in .npy count. Of arrays that `choice` does
// not take only the headers are unpacked; every array of numbers that it takes has to be (N) or (N, K). Arrays of text
// and single numbers become attributes. The name that numpy.savez invents for a lone array ("arr_0") and "data" mean
// that the table is unnamed. Throws FileError.
ParticleTable decode_npz(std::string_view bytes, const std::string& path, const ColumnChoice& choice = {});

// Stored, dated 1980-01-01: the same table gives the same bytes. The attributes become one 0-d string array,
// "provenance", a line for each. Throws FileError.
// The archive with the table's columns in the place of members called so, or behind them; the others keep their bytes.
// The attributes, the record of a run, take the place of the last record of that pipeline in "provenance"; an array
// of that name that is not of nbcc's stays, and no record is made. Throws FileError.
std::string update_npz(std::string_view bytes, const std::string& path, const ParticleTable& table);

std::string encode_npz(const ParticleTable& table, const std::string& path);

}  // namespace nbcc
