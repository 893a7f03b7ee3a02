// Particle tables in HDF5: one dataset per column in the root group or in another group, and that group's attributes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"
#include "particles/particle_table.h"

namespace nbcc {

// Reads the datasets of `group`. If `group` is "", reads the root group, or the only group with datasets if the root
// has none; "PartType0+PartType1" reads the columns that both have, with the rows of one after the other. Datasets have
// shape (N) or (N, K), any byte order, and type float32, float64 or an integer type up to int64 (widened as in .npy
// files). Only the shape is read of a dataset that `choice` does not choose. A single number or a string of fixed
// length, dataset or attribute, becomes an attribute. Strings of variable length are ignored, because HDF5 1.10 crashes
// on damaged ones. A single dataset "data" is an unnamed table. Throws FileError.
ParticleTable read_hdf5(const std::string& path, const std::string& group = "", const ColumnChoice& choice = {});

// The same, from the bytes of an entire file; messages call it `name`.
ParticleTable decode_hdf5(std::string_view bytes, const std::string& name, const std::string& group = "",
                          const ColumnChoice& choice = {});

// Returns the bytes of a file with contiguous datasets in the root group, in the table's order. Throws FileError.
std::string encode_hdf5(const ParticleTable& table, const std::string& path);

}  // namespace nbcc
