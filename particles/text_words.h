// Text files taken apart: into lines, lines into words, words into numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace nbcc {

struct Word {
  std::string_view text;
  long column;  // from 1
};

// The lines of a file, without their ends: LF, CR LF, or CR alone as old programs have it.
class TextLines {
 public:
  // Throws FileError where the bytes are binary data; `what` it should be stands in the message, as "a text table".
  TextLines(std::string_view bytes, const std::string& path, const char* what);

  bool next(std::string_view& line);  // false at the end
  long number() const { return number_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  char end_ = '\n';
  long number_ = 0;  // of the line that next() gave last, from 1
};

bool is_blank(char c);
std::string_view trimmed(std::string_view text);
std::string_view unquoted(std::string_view word);  // without the quotes around it, if there are some

// As it may stand in a message: short, without control characters.
std::string shown(std::string_view word);

// "1 value", "3 values"
std::string counted(std::int64_t count, std::string_view noun);

// What stands between blanks, and between commas where these separate; `offset` characters come before the text.
std::vector<Word> words_in(std::string_view text, std::size_t offset = 0, bool by_commas = false);

// Numbers as std::from_chars reads them (nan and inf too), with a leading '+', and 1.0D+00 as Fortran writes double
// precision. Whole ones may also come as 1.0 or 1.0E+00, which some programs print. An error leaves the value alone.
std::errc read_number(std::string_view word, double& value);
std::errc read_number(std::string_view word, float& value);
std::errc read_number(std::string_view word, std::int32_t& value);
std::errc read_number(std::string_view word, std::int64_t& value);

bool is_number(std::string_view word);

// Digits alone, with or without a sign in front.
std::errc read_digits(std::string_view word, std::int64_t& value);

}  // namespace nbcc
