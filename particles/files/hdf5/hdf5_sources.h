// Checks that the numbers of a dataset are all stored: HDF5 reads fill values (zeros) where another file of a virtual
// dataset or of a dataset with external storage is missing or too short. Refuses copies that would lose such files.
// Tested by tests/unit/particles/files/hdf5/hdf5_pieces_test.cpp.
#pragma once
#include <hdf5.h>

#include <string>

namespace nbcc {

// Throws FileError if the file of a part of the dataset is missing or too short. `label` names the dataset of the file
// `path`.
void check_sources(hid_t dataset, const std::string& label, const std::string& path);

// The file that an external link refers to; "" if it cannot be read.
std::string file_of_link(hid_t group, const std::string& name);

// Throws FileError if the file `from` takes numbers or objects from other files by a path that is relative to its
// folder, and a copy `to` in another folder would not find them.
void check_copy_of_hdf5(const std::string& from, const std::string& to);

}  // namespace nbcc
