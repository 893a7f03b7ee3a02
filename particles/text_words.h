// Splits text files into lines, lines into words, and reads words as numbers.
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

// The lines of a file, without the line ends. Line ends are LF, CR LF, or CR alone, which old programs write.
class TextLines {
 public:
  // Throws FileError if the bytes are binary data. `what` names the expected content in the message: "a text table".
  // `first_line`: the number of the first of these lines in its file.
  TextLines(std::string_view bytes, const std::string& path, const char* what, long first_line = 1);

  bool next(std::string_view& line);  // false at the end
  long number() const { return number_; }
  // False if the bytes end with the line that next() returned last, without a line end: its last word may be cut off.
  bool has_line_end() const { return has_line_end_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  char end_ = '\n';
  bool has_line_end_ = true;
  long number_;  // of the line that next() returned last, from 1
};

bool is_blank(char c);
std::string_view trimmed(std::string_view text);
std::string_view unquoted(std::string_view word);  // without enclosing quotes

// The word as messages show it: at most 40 bytes, control characters replaced by '?'.
std::string shown(std::string_view word);

// Why the last word of a file without a line end after it is doubtful: "it ends with '1.1', without a line end, ...".
std::string cut_off_note(std::string_view last_line);

// "1 value", "3 values"
std::string counted(std::int64_t count, std::string_view noun);

// The words between blanks, and between commas if `by_commas`. `offset`: characters of the line before `text`.
std::vector<Word> words_in(std::string_view text, std::size_t offset = 0, bool by_commas = false);

// Reads a number in the syntax of std::from_chars (nan and inf included), also with a leading '+' or with Fortran's
// exponent of double precision, 1.0D+00. Integers may be written 1.0 or 1.0E+00, which some programs print. On an error
// the value is unchanged.
std::errc read_number(std::string_view word, double& value);
std::errc read_number(std::string_view word, float& value);
std::errc read_number(std::string_view word, std::int32_t& value);
std::errc read_number(std::string_view word, std::int64_t& value);

bool is_number(std::string_view word);

// Reads an integer written as digits only, with an optional sign.
std::errc read_digits(std::string_view word, std::int64_t& value);

}  // namespace nbcc
