// Values of params in the syntax of --param.
// Tested by tests/unit/particles/numbers_test.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

struct ParamValue {
  std::string name;
  std::vector<double> values;
  bool truth = false;  // a value was written as true or false, which only a bool param accepts
  // The number of rows of the file that the values come from; 0 if the values were listed on the command line.
  std::int64_t rows = 0;
  std::vector<std::string> warnings{};  // doubts about that file, with its path
};

// Parses eps2=1e-4, box=10,10,12, periodic=true, or eps=@FILE, which takes all numbers of a particle file row by row.
// Throws UsageError and FileError.
ParamValue parse_param(std::string_view text);

// Checks the row length of a file against the shape of a param with several axes: a "real[2][3]" accepts rows of 1, 3
// or 6 numbers. Throws UsageError. A wrong total count of numbers is not reported here.
void check_rows(const ParamValue& param, const std::string& type);

std::vector<ParamValue> parse_params(const std::vector<std::string>& texts);

}  // namespace nbcc
