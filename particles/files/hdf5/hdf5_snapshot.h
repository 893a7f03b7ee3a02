// What the group Header of a snapshot of GADGET, AREPO, GIZMO or SWIFT states about one particle type: counts, which
// show that a file is only a piece of its snapshot, and a mass that all particles have in common.
// Tested by tests/unit/particles/files/hdf5/hdf5_pieces_test.cpp.
#pragma once
#include <hdf5.h>

#include <string>
#include <vector>

#include "particles/column_choice.h"

namespace nbcc {

// Adds the common mass of particle type `type` (MassTable) as the column m, unless the columns hold masses. Throws
// FileError if the file is a piece of its snapshot, or if the counts of the header, or the rows of a column that is
// chosen, disagree; reading masses throws it if they differ from MassTable. Does nothing for a file without a Header.
void take_snapshot_header(hid_t file, int type, const std::string& path, const ColumnChoice& choice,
                          std::vector<FileColumn>& columns);

}  // namespace nbcc
