// Snapshots of GADGET and its kin (AREPO, GIZMO, SWIFT) in HDF5: a group PartTypeN for each kind of particle, whose
// datasets are named in full. Here only the names; hdf5_file.cpp reads the numbers.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"

namespace nbcc {

// 1 of "PartType1", also behind slashes; nothing where the name is another's.
std::optional<int> gadget_type(std::string_view group);

// Coordinates becomes x, Masses m and so on, unless there is a column of that name; the names of the file stay valid.
void take_gadget_names(std::vector<FileColumn>& columns);

}  // namespace nbcc
