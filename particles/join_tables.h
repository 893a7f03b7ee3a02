// The columns of the same particles, from several files, as one table.
#pragma once
#include <string>
#include <vector>

#include "particles/particle_table.h"

namespace nbcc {

struct TableOfFile {
  ParticleTable table;
  std::string path;  // for messages
};

// The rows of the first, with the columns of the others added. Where both have a column id, rows belong together that
// have the same, in any order, else those in the same place. What two tables have in common has to be the same, unless
// `last_wins`. Throws FileError that names the file, UsageError where a table has no names.
ParticleTable join_tables(std::vector<TableOfFile> tables, bool last_wins = false);

}  // namespace nbcc
