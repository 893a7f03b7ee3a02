// Writes the outputs of a run into an existing HDF5 file, as datasets of the particles' group. All other objects stay
// unchanged. Tested by tests/unit/particles/files/hdf5/update_hdf5_test.cpp.
#pragma once
#include <string>

#include "particles/particle_table.h"

namespace nbcc {

// Throws FileError, which names `path`, if update_hdf5 could not write these columns and attributes without changing
// other objects. `group`: see read_hdf5; of several groups each gets its rows.
void check_update_hdf5(const std::string& path, const std::string& group, const ParticleTable& results);

// Changes the file `draft`. A dataset with an output's name, type and shape is overwritten and keeps its attributes,
// chunks and filters. A dataset with the name but another type or shape is replaced if it has no attributes, chunks or
// filters. The table's attributes become attributes of the group. Throws FileError, which names `path`.
void update_hdf5(const std::string& draft, const std::string& path, const std::string& group,
                 const ParticleTable& results);

}  // namespace nbcc
