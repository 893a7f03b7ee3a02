// The columns of several groups of an HDF5 file as one table: PartType0+PartType1 of a snapshot.
// Tested by tests/unit/particles/files/hdf5/hdf5_groups_test.cpp.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "particles/column_choice.h"

namespace nbcc {

struct GroupColumns {
  std::string group;  // "PartType0"
  std::vector<FileColumn> columns;
};

// The columns that all groups have, by their name: the rows of the groups, one group after the other.
// Numbers of different types become int64 if all are integers, else double. If all groups are particle types of GADGET,
// a column `type` holds their numbers. Each column that a group lacks is appended to `absent`, by both of its names,
// with the reason: see ParticleTable::absent. Reading a column throws FileError, which names `path`.
std::vector<FileColumn> join_groups(const std::vector<GroupColumns>& groups, const std::string& path,
                                    std::vector<std::pair<std::string, std::string>>& absent);

}  // namespace nbcc
