// The directives of the language: `#define NAME constant` and `#pragma flops N`. Part of the prescan; knows what has
// been defined, so that no macro can grow without bound or change the meaning of a word.
#pragma once
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nbcc {

// Characters of a number: every one of 64 bits can be written out, and Clang's arithmetic breaks at some 16000 digits.
inline constexpr std::size_t kMaxNumber = 1'000;

inline bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
inline bool is_word(char c) { return is_word_start(c) || is_digit(c); }

// What directives tell the parser.
struct StatedNumbers {
  std::optional<int> flops;             // #pragma flops N
  std::optional<int> idim, jdim, fdim;  // #define IDIM (4), in Cunbody's dialect
};

class Directives {
 public:
  // Takes the line behind '#'. Returns what is wrong with it, or nothing.
  std::string take(std::string_view line, StatedNumbers& result);
  // How many tokens the word stands for: 1, or those of the macro of that name.
  int expansion(std::string_view word) const;

 private:
  std::string define(std::string_view rest, StatedNumbers& result);
  std::string judge_value(const std::string& name, std::string_view value);

  std::map<std::string, int, std::less<>> tokens_;           // of each macro, fully expanded
  std::map<std::string, std::string, std::less<>> used_by_;  // a name that is no macro -> the macro that uses it
};

}  // namespace nbcc
