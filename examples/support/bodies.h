// Bodies on the host, and text files of them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace examples {

struct Bodies {
  std::vector<double> mass, x, v;  // x and v: three numbers of each, one body after the other
  std::optional<double> G{};       // that the file states, in its units
  std::int64_t count() const { return std::int64_t(mass.size()); }
};

// A text file with a line for each body. Words are parted by blanks, tabs or commas; what stands behind #, % or ! is a
// comment. A comment before the first body, or a line of words, may name the columns, as `nbcc make-ic` does: "m x[3]
// v[3]" or "m x y z vx vy vz" in any order, with others between them. Without names the seven numbers of a body stand
// in that order, and in lines of eight an id stands before them, as in the files of NBabel. A comment "G: NUMBER"
// states the gravitational constant. Throws UsageError if the file cannot be read, std::runtime_error with file and
// line if it is wrong.
Bodies read_bodies(const std::string& path);

// The gravitational constant of a simulation: --G if it is given (above 0), else that of the file, else 1. Throws
// UsageError if both are given and differ.
double gravitational_constant(const Bodies& bodies, std::optional<double> given);
// mass * G of each body. Sums over these have accelerations and potentials in the units of the file.
std::vector<double> times_g(std::vector<double> mass, double G);

// So that read_bodies() gives the same bits again. Throws UsageError.
void write_bodies(const std::string& path, const Bodies& bodies);

// So that the centre of mass rests in the origin. Throws UsageError where the masses add up to 0.
void rest_in_the_origin(Bodies& bodies);

}  // namespace examples
