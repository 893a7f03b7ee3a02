// Params as one writes them on a command line.
// Tested by tests/unit/numbers_test.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

struct ParamValue {
  std::string name;
  std::vector<double> values;
  bool truth = false;  // one of them was written as true or false, which only a bool takes
  // Of a file: its rows, of as many numbers each; 0: they were listed one by one.
  std::int64_t rows = 0;
};

// eps2=1e-4, box=10,10,12, periodic=true, eps=@FILE for all numbers of a particle file, row by row. Throws UsageError
// and FileError.
ParamValue parse_param(std::string_view text);

// Throws UsageError where a param of this type, "real[2][3]", has several axes and no row of the file ends where one of
// these does: it takes rows of 3, 6 or 1. How many numbers there are is not looked at.
void check_rows(const ParamValue& param, const std::string& type);

std::vector<ParamValue> parse_params(const std::vector<std::string>& texts);

}  // namespace nbcc
