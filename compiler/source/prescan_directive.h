// The directives of the language: `#define NAME constant` and `#pragma flops N`. Part of the prescan. It keeps the
// definitions, so that no macro can expand without bound or change the meaning of a word.
#pragma once
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace nbcc {

// Maximum characters of a number. Enough to write every 64-bit number exactly; Clang fails at about 16000 digits.
inline constexpr std::size_t kMaxNumber = 1'000;

inline bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
inline bool is_word(char c) { return is_word_start(c) || is_digit(c); }

// The numbers that directives state.
struct StatedNumbers {
  std::optional<int> flops;             // #pragma flops N
  std::optional<int> idim, jdim, fdim;  // #define IDIM (4), in the Cunbody dialect
};

class Directives {
 public:
  // Reads a directive; `line` begins after '#'. Returns an error message, or an empty string.
  std::string take(std::string_view line, StatedNumbers& result);
  // The number of tokens that the word expands to: 1 if it is no macro.
  int expansion(std::string_view word) const;

 private:
  std::string define(std::string_view rest, StatedNumbers& result);
  std::string judge_value(const std::string& name, std::string_view value);

  std::map<std::string, int, std::less<>> tokens_;           // macro -> tokens after full expansion
  std::map<std::string, std::string, std::less<>> used_by_;  // a name that is no macro -> the macro that uses it
};

}  // namespace nbcc
