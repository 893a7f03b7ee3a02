// The text that a random pipeline grows into, line by line, and names that are not in it yet.
#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>

namespace nbcc::test {

struct RandomText {
  std::string text;
  int indent = 0, counter = 0;

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text.append(std::size_t(2 * indent), ' ');
    text += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }
  std::string fresh(const char* stem) { return fmt::format("{}{}", stem, counter++); }
};

}  // namespace nbcc::test
