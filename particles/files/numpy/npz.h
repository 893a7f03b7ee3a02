// NumPy's .npz format: a zip archive of .npy arrays, one per column.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"
#include "particles/particle_table.h"

namespace nbcc {

// `bytes` is the entire archive; members are stored or deflated. Members whose name does not end in .npy are ignored.
// Only the header is unpacked of an array that `choice` does not choose; a chosen array of numbers must have shape (N)
// or (N, K). Arrays of text and single numbers become attributes. A single array called "data" or "arr_0" (the name
// that numpy.savez invents) makes an unnamed table. Throws FileError.
ParticleTable decode_npz(std::string_view bytes, const std::string& path, const ColumnChoice& choice = {});

// Returns the archive with the table's columns. They replace members of the same name; new members are appended. All
// other members keep their bytes. The attributes (the record of a run) replace the earlier record of the same pipeline
// in the array "provenance". If that array was not written by nbcc, it stays and no record is written. Throws
// FileError.
std::string update_npz(std::string_view bytes, const std::string& path, const ParticleTable& table);

// Returns an archive of stored members, dated 1980-01-01, so that the same table always gives the same bytes. The
// attributes become the lines of a 0-d string array, "provenance". Throws FileError.
std::string encode_npz(const ParticleTable& table, const std::string& path);

}  // namespace nbcc
