// NumPy's .npy: a short header that spells a dtype and a shape, then the numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"
#include "particles/particle_table.h"

namespace nbcc {

// One array as it stands in a file or in an archive.
struct NpyArray {
  // One column without a name, or, of a structured dtype, one for each field.
  std::vector<ParticleColumn> columns;
  bool structured = false;
  std::vector<std::string> strings;  // UTF-8; of an array of text, which has no columns
  bool text = false;
  std::vector<ColumnOfFile> in_file;  // fields of a structured dtype, where not all were asked for
  int dimensions = 0;                 // 0, 1 or 2
  std::int64_t rows = 0;
};

// Versions 1 to 3, C and Fortran order, either byte order. f4, f8, i4 and i8 stay what they are; bool, i1, i2, u1 and
// u2 become int32 and u4 int64. Nothing is allocated that the bytes at hand cannot fill. Throws FileError.
// `choice` is among the fields of a structured dtype.
NpyArray decode_npy(std::string_view bytes, const std::string& path, const ColumnChoice& choice = {});

// The columns that an array would be, a plain one under the name `name`, by its header, which `begin` holds in whole;
// whether their numbers are such as are read. None for text and for single numbers.
struct NpyShape {
  ColumnOfFile column;
  bool readable = false;
};
std::vector<NpyShape> shapes_of_npy(std::string_view begin, const std::string& name, const std::string& path);

// (N) for one component, (N, K) otherwise and where always_two_dimensional asks for it.
std::string encode_npy(const ParticleColumn& column, bool always_two_dimensional = false);

// A 0-d array that holds one string, as numpy.array("text") is.
std::string encode_npy_string(std::string_view utf8);

}  // namespace nbcc
