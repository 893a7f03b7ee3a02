// Joins tables from several files, which hold different columns of the same particles.
#pragma once
#include <string>
#include <vector>

#include "particles/particle_table.h"

namespace nbcc {

struct TableOfFile {
  ParticleTable table;
  std::string path;  // for messages
};

// Returns the rows of the first table with the columns of the other tables added. Rows are matched by the column id if
// both tables have one (in any order), else by row number. A column that two tables have in common must hold the same
// values, unless `last_wins`: then the values of the last table are taken. Throws FileError, which names the file, and
// UsageError if a table has no column names.
ParticleTable join_tables(std::vector<TableOfFile> tables, bool last_wins = false);

}  // namespace nbcc
