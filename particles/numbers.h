// Parses numbers and lists of numbers of a command line.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

// The number that the entire text spells; nothing if any character is left over.
std::optional<double> parse_double(std::string_view text);

// 16384, 1e6, 2.5e3: an integer from 0 to 2^53. Throws UsageError; `what` names the option in its message.
std::int64_t parse_count(std::string_view text, std::string_view what);

// A list of positive integers: 1024,2048 or a range 1024..65536, in which each is twice the one before, or both. Throws
// UsageError.
std::vector<std::int64_t> parse_counts(std::string_view text, std::string_view what);

// The parts of `text` between separators; "" has no parts.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace nbcc
