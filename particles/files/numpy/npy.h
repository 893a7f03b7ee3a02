// NumPy's .npy format: a short header with dtype and shape, then the numbers.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"
#include "particles/files/numpy/npy_header.h"
#include "particles/particle_table.h"

namespace nbcc {

// Decodes an entire file: versions 1 to 3, C or Fortran order, either byte order. f4, f8, i4 and i8 keep their type;
// bool, i1, i2, u1 and u2 become int32; u4 becomes int64. Never allocates more than `bytes` can fill. A plain array is
// an unnamed table; `choice` selects among the fields of a structured dtype. Throws FileError.
ParticleTable decode_npy(std::string_view bytes, const std::string& path, const ColumnChoice& choice = {});

// Returns all bytes of an array; may store them in `buffer`, which the caller keeps alive.
using NpyBytes = std::function<std::string_view(std::string& buffer)>;

// The columns of an array: one called `name`, or one per field of a structured dtype. Throws FileError.
std::vector<FileColumn> columns_of_npy(const NpyHeader& header, const std::string& name, const std::string& path,
                                       const NpyBytes& bytes);

// True for arrays of text and for single values, which become attributes instead of columns.
bool is_note(const NpyHeader& header);
std::string decode_npy_note(std::string_view bytes, const std::string& path);  // UTF-8

// Encodes a column of one component with shape (N), or (N, 1) if always_two_dimensional; of K components with (N, K).
std::string encode_npy(const ParticleColumn& column, bool always_two_dimensional = false);

// Encodes a 0-d array that holds one string, like numpy.array("text").
std::string encode_npy_string(std::string_view utf8);

}  // namespace nbcc
