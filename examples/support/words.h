// Lines of text files that people and programs write.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace examples {

// What stands before a comment, which begins with #, % or !, and in it.
struct Line {
  std::vector<std::string> words, comment;  // parted by blanks, tabs or commas
};
Line split(const std::string& line);

// A finite number, also 1.0D+00, as Fortran writes double precision; nothing if the word is none.
std::optional<double> number_in(std::string word);

}  // namespace examples
