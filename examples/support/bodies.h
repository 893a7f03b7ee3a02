// Bodies on the host, and text files of them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace examples {

struct Bodies {
  std::vector<double> mass, x, v;  // x and v: three numbers of each, one body after the other
  std::int64_t count() const { return std::int64_t(mass.size()); }
};

// A text file as `nbcc make-ic` writes it: a line "# ... m x[3] v[3]" names the columns; without one they are m, x, y,
// z, vx, vy, vz, and in lines of eight numbers an id stands before them, as in the files of NBabel. Throws
// std::runtime_error with file and line.
Bodies read_bodies(const std::string& path);

// So that read_bodies() gives the same bits again. Throws std::runtime_error.
void write_bodies(const std::string& path, const Bodies& bodies);

// So that the centre of mass rests in the origin.
void rest_in_the_origin(Bodies& bodies);

}  // namespace examples
