// The values that an option can have, where these are known. Entry points: choices_of(), not_empty().
#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

namespace nbcc {

// Empty for an option that takes other values too. CLI11 shows the members of an IsMember as "TEXT:{a,b,c}".
inline std::vector<std::string> choices_of(const CLI::Option& option) {
  std::vector<std::string> choices;
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return choices;
  for (std::size_t begin = open + 1; begin <= close;) {
    const std::size_t end = std::min(type.find(',', begin), close);
    choices.push_back(type.substr(begin, end - begin));
    begin = end + 1;
  }
  return choices;
}

// Refuses "", the value of a shell's variable that is not set.
inline CLI::Validator not_empty() {
  return CLI::Validator([](const std::string& text) { return std::string(text.empty() ? "it is empty" : ""); }, "");
}

}  // namespace nbcc
