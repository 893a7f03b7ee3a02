// Splits the bytes of a text file into lines, words and numbers. The entry points are declared in the header. Knows no
// file formats.
#include "particles/text_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "particles/file_error.h"

namespace nbcc {
namespace {

constexpr std::size_t kLongestNumber = 512;

template <class Number>
std::errc read_plain(std::string_view word, Number& value) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = end == word.data() + word.size();
  const std::size_t exponent = word.find_first_of("eEdD");
  const bool has_exponent = exponent != std::string_view::npos && exponent + 1 < word.size();
  // from_chars reports overflow and underflow by the same error; an underflow is read as zero.
  if (error == std::errc::result_out_of_range && whole && has_exponent && word[exponent + 1] == '-') {
    value = 0;
    return {};
  }
  if (error != std::errc() || whole) return error;
  if (std::is_integral_v<Number> || !has_exponent || word.size() > kLongestNumber || word[exponent] == 'e' ||
      word[exponent] == 'E')
    return std::errc::invalid_argument;
  std::string spelled(word);
  spelled[exponent] = 'e';
  return read_plain(std::string_view(spelled), value);
}

template <class Whole>
std::errc read_whole(std::string_view word, Whole& value) {
  const std::errc error = read_plain(word, value);
  if (error != std::errc::invalid_argument) return error;
  double number = 0;
  constexpr double largest = sizeof(Whole) == 4 ? 0x1p31 - 1 : 0x1p53;
  if (const std::errc other = read_plain(word, number); other != std::errc()) return other;
  if (number != std::floor(number)) return std::errc::invalid_argument;
  if (std::fabs(number) > largest) return std::errc::result_out_of_range;
  value = static_cast<Whole>(number);
  return {};
}

}  // namespace

TextLines::TextLines(std::string_view bytes, const std::string& path, const char* what, long first_line)
    : bytes_(bytes), number_(first_line - 1) {
  if (const std::size_t zero = bytes_.find('\0'); zero != std::string_view::npos)
    throw FileError(path, fmt::format("it is binary data, not {} (byte {} is zero)", what, zero));
  if (bytes_.starts_with("\xef\xbb\xbf")) bytes_.remove_prefix(3);
  if (bytes_.find('\n') == std::string_view::npos) end_ = '\r';
}

bool TextLines::next(std::string_view& line) {
  if (at_ >= bytes_.size()) return false;
  const std::size_t end = std::min(bytes_.find(end_, at_), bytes_.size());
  line = bytes_.substr(at_, end - at_);
  has_line_end_ = end < bytes_.size() || line.ends_with('\r');
  at_ = end + 1;
  ++number_;
  return true;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view unquoted(std::string_view word) {
  const bool quoted = word.size() > 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front();
  return quoted ? word.substr(1, word.size() - 2) : word;
}

std::string shown(std::string_view word) {
  constexpr std::size_t longest = 40;
  std::size_t length = std::min(word.size(), longest);
  // Do not cut within a UTF-8 character.
  while (length < word.size() && length > 0 && (static_cast<unsigned char>(word[length]) & 0xc0) == 0x80) --length;
  std::string text;
  for (char c : word.substr(0, length)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return length < word.size() ? text + "..." : text;
}

std::string cut_off_note(std::string_view last_line) {
  const std::string_view line = trimmed(last_line);
  const std::size_t begin = line.find_last_of(" \t,") + 1;
  return fmt::format("it ends with '{}', without a line end, so that its last row may be cut off",
                     shown(line.substr(begin)));
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::vector<Word> words_in(std::string_view text, std::size_t offset, bool by_commas) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    while (at < text.size() && !is_blank(text[at]) && !(by_commas && text[at] == ',')) ++at;
    if (at > start) words.push_back({text.substr(start, at - start), static_cast<long>(offset + start) + 1});
    if (at < text.size()) ++at;
  }
  return words;
}

std::errc read_number(std::string_view word, double& value) { return read_plain(word, value); }
std::errc read_number(std::string_view word, float& value) { return read_plain(word, value); }
std::errc read_number(std::string_view word, std::int32_t& value) { return read_whole(word, value); }
std::errc read_number(std::string_view word, std::int64_t& value) { return read_whole(word, value); }

std::errc read_digits(std::string_view word, std::int64_t& value) { return read_plain(word, value); }

bool is_number(std::string_view word) {
  double value = 0;
  return read_plain(word, value) != std::errc::invalid_argument;
}

}  // namespace nbcc
