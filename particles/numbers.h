// Numbers as one writes them on a command line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

// 16384, 1e6, 2.5e3: a whole number, 0 or more. `what` names it in the message of the UsageError.
std::int64_t parse_count(std::string_view text, std::string_view what);

// 1024,2048 or 1024..65536 (each twice the one before) or both; positive numbers. Throws UsageError.
std::vector<std::int64_t> parse_counts(std::string_view text, std::string_view what);

struct ParamValue {
  std::string name;
  std::vector<double> values;
  bool truth = false;  // one of them was written as true or false, which only a bool takes
};

// eps2=1e-4, box=10,10,12, periodic=true. Throws UsageError.
ParamValue parse_param(std::string_view text);

std::vector<ParamValue> parse_params(const std::vector<std::string>& texts);

// What stands between the separators; "" has no parts.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace nbcc
