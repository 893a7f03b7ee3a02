// Numbers as one writes them on a command line.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

// The whole text as a number.
std::optional<double> parse_double(std::string_view text);

// 16384, 1e6, 2.5e3: a whole number, 0 or more. `what` names it in the message of the UsageError.
std::int64_t parse_count(std::string_view text, std::string_view what);

// 1024,2048 or 1024..65536 (each twice the one before) or both; positive numbers. Throws UsageError.
std::vector<std::int64_t> parse_counts(std::string_view text, std::string_view what);

// What stands between the separators; "" has no parts.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace nbcc
