// Names in HDF5 snapshots of GADGET and related codes (AREPO, GIZMO, SWIFT): a group PartTypeN for each particle type,
// whose datasets have long names (Coordinates). hdf5_file.cpp reads the numbers.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "particles/column_choice.h"

namespace nbcc {

// The number in the last component of a group's path: 1 for "/PartType1"; nothing for any other name.
std::optional<int> gadget_type(std::string_view group);

// Renames Coordinates to x, Masses to m and so on, unless such a column exists. Lookup by the file's name still works.
void take_gadget_names(std::vector<FileColumn>& columns);

// The attribute of SWIFT's group HydroScheme that names the kernel, as "Cubic spline (M4)".
inline constexpr const char* kKernelOfSwift = "Kernel function";

// Explains what a smoothing length of the file means, for a field that reads it without --bind: GADGET, AREPO and GIZMO
// store the radius where the kernel becomes zero, SWIFT a length that a factor of its kernel turns into that radius,
// and nbcc's SPH pipelines take half of that radius. "" if `name_in_file` is no smoothing length. `kernel`: the value
// of kKernelOfSwift, null if there is none.
std::string smoothing_note(const std::string& field, const std::string& name_in_file, const std::string& file,
                           const std::string* kernel);

}  // namespace nbcc
