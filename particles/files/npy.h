// NumPy's .npy: a short header that spells a dtype and a shape, then the numbers.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"
#include "particles/files/npy_header.h"
#include "particles/particle_table.h"

namespace nbcc {

// A whole file. Versions 1 to 3, C and Fortran order, either byte order. f4, f8, i4 and i8 stay what they are; bool,
// i1, i2, u1 and u2 become int32 and u4 int64. Nothing is allocated that the bytes at hand cannot fill. A plain array
// is an unnamed table; `choice` is among the fields of a structured dtype. Throws FileError.
ParticleTable decode_npy(std::string_view bytes, const std::string& path, const ColumnChoice& choice = {});

// All bytes of an array, which may be put into `room`.
using NpyBytes = std::function<std::string_view(std::string& room)>;

// The columns that an array is: one of the name `name`, or the fields of a structured dtype. Throws FileError.
std::vector<FileColumn> columns_of_npy(const NpyHeader& header, const std::string& name, const std::string& path,
                                       const NpyBytes& bytes);

// Text and single numbers are no columns but notes.
bool is_note(const NpyHeader& header);
std::string decode_npy_note(std::string_view bytes, const std::string& path);  // UTF-8

// (N) for one component, (N, K) otherwise and where always_two_dimensional asks for it.
std::string encode_npy(const ParticleColumn& column, bool always_two_dimensional = false);

// A 0-d array that holds one string, as numpy.array("text") is.
std::string encode_npy_string(std::string_view utf8);

}  // namespace nbcc
