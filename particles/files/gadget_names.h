// Names in HDF5 snapshots of GADGET and related codes (AREPO, GIZMO, SWIFT): a group PartTypeN for each particle type,
// whose datasets have long names (Coordinates). hdf5_file.cpp reads the numbers.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"

namespace nbcc {

// The number in the last component of a group's path: 1 for "/PartType1"; nothing for any other name.
std::optional<int> gadget_type(std::string_view group);

// Renames Coordinates to x, Masses to m and so on, unless such a column exists. Lookup by the file's name still works.
void take_gadget_names(std::vector<FileColumn>& columns);

}  // namespace nbcc
