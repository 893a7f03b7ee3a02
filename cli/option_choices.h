// The values that an option can have, where these are known. Entry point: choices_of().
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "cli/commands.h"

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

}  // namespace nbcc
