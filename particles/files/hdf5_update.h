// An HDF5 file with the outputs of a run among the datasets of the particles' group. All other objects stay as they
// are. Tested by tests/unit/update_hdf5_test.cpp.
#pragma once
#include <string>

#include "particles/particle_table.h"

namespace nbcc {

// Throws FileError, which names `path`, where update_hdf5 could not write these columns and attributes without
// changing something else. `group` as of read_hdf5.
void check_update_hdf5(const std::string& path, const std::string& group, const ParticleTable& results);

// Changes the file `draft`. A dataset of an output's name, type and shape is written to, so that its attributes, chunks
// and filters stay. One of another type or shape is replaced where it has nothing but its numbers. The table's
// attributes become those of the group. Throws FileError, which names `path`.
void update_hdf5(const std::string& draft, const std::string& path, const std::string& group,
                 const ParticleTable& results);

}  // namespace nbcc
