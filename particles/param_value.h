// Params as one writes them on a command line.
// Tested by tests/unit/numbers_test.cpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

struct ParamValue {
  std::string name;
  std::vector<double> values;
  bool truth = false;  // one of them was written as true or false, which only a bool takes
};

// eps2=1e-4, box=10,10,12, periodic=true, eps=@FILE for all numbers of a particle file, row by row. Throws UsageError
// and FileError.
ParamValue parse_param(std::string_view text);

std::vector<ParamValue> parse_params(const std::vector<std::string>& texts);

}  // namespace nbcc
