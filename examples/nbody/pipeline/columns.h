// Named columns of a text file of particles.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace examples {

struct Column {
  int width = 1;               // numbers of each particle
  std::vector<double> values;  // [particle][width]
};

struct Columns {
  std::string file;
  std::int64_t count = 0;  // of particles
  std::map<std::string, Column> by_name;

  const Column* find(const std::string& name) const;
  // Throws UsageError, which names the columns that there are.
  const Column& at(const std::string& name, const std::string& wanted_for) const;
};

// Words are parted by blanks, tabs or commas. The last comment before the first row, or a first line of words, names
// the columns, as `nbcc make-ic` does: "id m x[3] v[3]". Throws UsageError if the file cannot be read,
// std::runtime_error with file and line if it is wrong.
Columns read_columns(const std::string& path);

}  // namespace examples
