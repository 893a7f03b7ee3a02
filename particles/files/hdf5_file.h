// HDF5: one dataset for each column, in the root or in one group; attributes of that group.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"
#include "particles/particle_table.h"

namespace nbcc {

// Reads the datasets of `group`, or, where that is "", of the root or else of the only group. Datasets are (N) or
// (N, K) of any byte order; float32, float64 and integers up to int64 (widened like those of .npy). Of datasets that
// `choice` does not take only the shape is read. Single numbers and strings of fixed length, datasets or attributes,
// become attributes; strings of variable length are passed over, because HDF5 1.10 crashes on damaged ones. A lone
// dataset "data" is an unnamed table. Throws FileError.
ParticleTable read_hdf5(const std::string& path, const std::string& group = "", const ColumnChoice& choice = {});

// The same from the bytes of a whole file; `name` stands in messages.
ParticleTable decode_hdf5(std::string_view bytes, const std::string& name, const std::string& group = "",
                          const ColumnChoice& choice = {});

// The whole file: contiguous datasets at the root, in the table's order. Throws FileError.
std::string encode_hdf5(const ParticleTable& table, const std::string& path);

}  // namespace nbcc
