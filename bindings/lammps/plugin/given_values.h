// The values that pair_coeff lines with the name of the file have given, which hold for all types: two lines for
// different types must not give one name two values, because the last line would win without a word.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace nbcc_lammps {

// The types (from 1) of one pair_coeff line.
struct TypeRange {
  int i_low = 0, i_high = 0, j_low = 0, j_high = 0;
  std::string words;  // as the line has them, for messages: "1 2*"
  bool contains(const TypeRange& other) const {
    return i_low <= other.i_low && other.i_high <= i_high && j_low <= other.j_low && other.j_high <= j_high;
  }
};

class GivenValues {
 public:
  // Records that a line for these types gives `name` the value. A line replaces the values of earlier lines whose types
  // are among its own. Throws std::runtime_error if another earlier line gave another value.
  void give(const std::string& name, const std::string& value, const TypeRange& types);

 private:
  struct Given {
    TypeRange types;
    std::string value;
  };
  std::map<std::string, std::vector<Given>> given_;
};

}  // namespace nbcc_lammps
