// Turns text into a table of particles and back; its doors are decode_text and encode_text. Opens no files.
#include "particles/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "particles/file_error.h"

namespace nbcc {
namespace {

constexpr std::size_t kLongestNumber = 512;

struct Word {
  std::string_view text;
  long column;  // from 1
};

std::string shown(std::string_view word) {
  std::string text;
  for (char c : word.substr(0, 40)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return word.size() > 40 ? text + "..." : text;
}

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// What stands between blanks and commas, of which `offset` characters come before.
std::vector<Word> words_in(std::string_view text, std::size_t offset) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    while (at < text.size() && !blank(text[at]) && text[at] != ',') ++at;
    if (at > start) words.push_back({text.substr(start, at - start), static_cast<long>(offset + start) + 1});
    if (at < text.size()) ++at;
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Numbers as std::from_chars reads them, with a leading '+', and 1.0D+00 as Fortran writes double precision.
template <class Number>
std::errc read_number(std::string_view word, Number& value) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = end == word.data() + word.size();
  const std::size_t exponent = word.find_first_of("eEdD");
  const bool has_exponent = exponent != std::string_view::npos && exponent + 1 < word.size();
  // from_chars does not tell too large from too small; a number too small to hold is zero.
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
  return read_number(std::string_view(spelled), value);
}

// Whole numbers may also come as 1.0 or 1.0E+00, which some programs print.
template <class Whole>
std::errc read_whole_number(std::string_view word, Whole& value) {
  const std::errc error = read_number(word, value);
  if (error != std::errc::invalid_argument) return error;
  double number = 0;
  constexpr double largest = sizeof(Whole) == 4 ? 0x1p31 - 1 : 0x1p53;
  if (const std::errc other = read_number(word, number); other != std::errc()) return other;
  if (number != std::floor(number)) return std::errc::invalid_argument;
  if (std::fabs(number) > largest) return std::errc::result_out_of_range;
  value = static_cast<Whole>(number);
  return {};
}

bool is_number(std::string_view word) {
  double value = 0;
  return read_number(word, value) != std::errc::invalid_argument;
}

std::string_view unquoted(std::string_view word) {
  const bool quoted = word.size() > 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front();
  return quoted ? word.substr(1, word.size() - 2) : word;
}

class TextReader {
 public:
  TextReader(std::string_view bytes, const std::string& path, const std::vector<ColumnName>& columns)
      : bytes_(bytes), path_(path), columns_(columns), named_by_caller_(!columns.empty()) {}

  ParticleTable read() {
    if (const std::size_t zero = bytes_.find('\0'); zero != std::string_view::npos)
      throw FileError(path_, fmt::format("it is binary data, not a text table (byte {} is zero)", zero));
    if (bytes_.starts_with("\xef\xbb\xbf")) bytes_.remove_prefix(3);
    // Old programs end lines by CR alone.
    const char line_end = bytes_.find('\n') == std::string_view::npos ? '\r' : '\n';
    for (std::size_t at = 0; at < bytes_.size();) {
      const std::size_t end = std::min(bytes_.find(line_end, at), bytes_.size());
      ++line_;
      read_line(bytes_.substr(at, end - at));
      at = end + 1;
    }
    if (!started_) start_without_rows();
    return finish();
  }

 private:
  void read_line(std::string_view line) {
    const std::size_t hash = line.find('#');
    split(line.substr(0, hash));
    if (words_.empty()) {
      if (hash != std::string_view::npos && !started_) read_comment(line.substr(hash + 1), hash + 1);
      return;
    }
    if (!started_ && !has_header_row_ && is_header_row()) {
      has_header_row_ = true;
      if (!named_by_caller_) name_by(words_, true);
      return;
    }
    if (!started_) start();
    append_row();
  }

  void split(std::string_view line) {
    words_ = words_in(line, 0);
    // Between two commas, before the first and after the last of them there has to be a value.
    bool value_due = true, commas = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] == ',' && value_due) fail(static_cast<long>(at) + 1, "a value is missing before this comma");
      if (!blank(line[at])) value_due = line[at] == ',';
      commas = commas || line[at] == ',';
    }
    if (commas && value_due) fail(static_cast<long>(line.size()), "a value is missing after the last comma");
  }

  void read_comment(std::string_view text, std::size_t offset) {
    const std::string_view content = trimmed(text);
    header_.clear();
    if (content.empty()) return;
    if (const std::size_t colon = content.find(": "); colon != std::string_view::npos) {
      const std::string_view key = content.substr(0, colon);
      const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == ' ' || c == '_' || c == '-';
      };
      if (std::ranges::all_of(key, plain)) table_.attributes.emplace_back(key, trimmed(content.substr(colon + 1)));
      return;
    }
    header_line_ = line_;
    header_ = words_in(text, offset);
  }

  bool is_header_row() const {
    return std::ranges::none_of(words_, [](const Word& word) { return is_number(word.text); }) &&
           (words_.size() > 1 || named_by_caller_ || parse_column_name(unquoted(words_[0].text)));
  }

  // Takes the names if they are names: an error otherwise when they must be, as in a CSV file's first row.
  bool name_by(const std::vector<Word>& words, bool must) {
    std::vector<std::string_view> names;
    for (const Word& word : words) names.push_back(unquoted(word.text));
    const std::vector<ColumnName> columns = gather_columns(names);
    if (columns.empty() && must)
      for (std::size_t k = 0; k < words.size(); ++k)
        if (gather_columns({names[k]}).empty())
          fail(words[k].column, fmt::format("'{}' is neither a number nor the name of a column", shown(words[k].text)));
    columns_ = columns;
    names_line_ = line_;
    return !columns.empty();
  }

  // A comment is a header when its words fit the row below; one that says "x[3]" meant to be.
  void name_by_comment(std::int64_t words_in_row) {
    if (header_.empty() || !name_by(header_, false)) return;
    names_line_ = header_line_;
    if (words_in_row < 0 || words_per_row(columns_) == words_in_row) return;
    const bool meant = std::ranges::any_of(
        header_, [](const Word& word) { return word.text.find_first_of("[:") != std::string_view::npos; });
    if (!meant) columns_.clear();
  }

  void start() {
    started_ = true;
    if (columns_.empty()) name_by_comment(static_cast<std::int64_t>(words_.size()));
    if (columns_.empty()) {
      table_.unnamed = true;
      columns_ = {{"data", static_cast<int>(words_.size()), ElementType::Double}};
      names_line_ = line_;
    }
    make_columns();
  }

  void start_without_rows() {
    if (columns_.empty()) name_by_comment(-1);
    if (columns_.empty())
      throw FileError(path_, bytes_.empty() ? "the file is empty" : "there are no numbers and no header line in it");
    make_columns();
  }

  void make_columns() {
    for (const ColumnName& column : columns_)
      if (!column.name.empty())
        table_.columns.push_back({column.name, column.components, make_data(column.type_or(ElementType::Double), 0)});
    words_wanted_ = words_per_row(columns_);
  }

  void append_row() {
    const auto count = static_cast<std::int64_t>(words_.size());
    if (count != words_wanted_) {
      const Word& last = count > words_wanted_ ? words_[static_cast<std::size_t>(words_wanted_)] : words_.back();
      const std::string source = named_by_caller_ ? "--columns names"
                                 : table_.unnamed ? fmt::format("line {} has", names_line_)
                                                  : fmt::format("the header in line {} names", names_line_);
      fail(last.column,
           fmt::format("this row has {} value{}, but {} {}", count, count == 1 ? "" : "s", source, words_wanted_));
    }
    std::size_t word = 0, column = 0;
    for (const ColumnName& name : columns_) {
      if (!name.name.empty()) append(table_.columns[column++], word, name.components);
      word += static_cast<std::size_t>(name.components);
    }
    ++table_.rows;
  }

  void append(ParticleColumn& column, std::size_t first, int count) {
    std::visit(
        [&](auto& values) {
          for (int c = 0; c < count; ++c) {
            typename std::decay_t<decltype(values)>::value_type value{};
            const Word& word = words_[first + static_cast<std::size_t>(c)];
            std::errc error;
            if constexpr (std::is_integral_v<decltype(value)>)
              error = read_whole_number(word.text, value);
            else
              error = read_number(word.text, value);
            if (error != std::errc()) refuse(word, error, column);
            values.push_back(value);
          }
        },
        column.data);
  }

  [[noreturn]] void refuse(const Word& word, std::errc error, const ParticleColumn& column) const {
    const bool whole = column.type() == ElementType::Int32 || column.type() == ElementType::Int64;
    if (error == std::errc::result_out_of_range)
      fail(word.column, fmt::format("'{}' is beyond the range of {}", shown(word.text), element_name(column.type())));
    if (whole && is_number(word.text))
      fail(word.column, fmt::format("'{}' is not a whole number, but column '{}' is {}", shown(word.text), column.name,
                                    element_name(column.type())));
    fail(word.column, fmt::format("'{}' is not a number", shown(word.text)));
  }

  [[noreturn]] void fail(long column, const std::string& reason) const {
    throw FileError(path_, line_, column, reason);
  }

  ParticleTable finish() {
    if (const std::string fault = table_fault(table_); !fault.empty()) throw FileError(path_, fault);
    return std::move(table_);
  }

  std::string_view bytes_;
  const std::string& path_;
  std::vector<ColumnName> columns_;
  const bool named_by_caller_;
  bool has_header_row_ = false;
  bool started_ = false;  // the first row of numbers was seen
  long line_ = 0;
  long names_line_ = 0;
  long header_line_ = 0;
  std::vector<Word> words_;   // of the current line
  std::vector<Word> header_;  // of the last comment above the rows
  std::int64_t words_wanted_ = 0;
  ParticleTable table_;
};

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

void put_header(std::string& text, const ParticleTable& table, TextStyle style) {
  if (style == TextStyle::Plain) {
    text += '#';
    for (const ParticleColumn& column : table.columns)
      text += " " + spell_column(column.name, column.type(), column.components);
    text += '\n';
    return;
  }
  // One name for each field, as programs that read CSV want it.
  const char separator = style == TextStyle::Csv ? ',' : '\t';
  bool first = true;
  for (const ParticleColumn& column : table.columns) {
    const std::string name = spell_column(column.name, column.type(), 1);
    for (int c = 0; c < column.components; ++c) {
      if (!first) text += separator;
      first = false;
      text += column.components == 1 ? name : fmt::format("{}[{}]", name, c);
    }
  }
  text += '\n';
}

}  // namespace

ParticleTable decode_text(std::string_view bytes, const std::string& path, const std::vector<ColumnName>& columns) {
  return TextReader(bytes, path, columns).read();
}

std::string encode_text(const ParticleTable& table, TextStyle style) {
  std::string text;
  for (const auto& [key, value] : table.attributes) text += fmt::format("# {}: {}\n", key, one_line(value));
  if (!table.unnamed) put_header(text, table, style);
  const char separator = style == TextStyle::Plain ? ' ' : style == TextStyle::Csv ? ',' : '\t';
  for (std::int64_t row = 0; row < table.rows; ++row) {
    bool first = true;
    for (const ParticleColumn& column : table.columns)
      std::visit(
          [&](const auto& values) {
            for (int c = 0; c < column.components; ++c) {
              if (!first) text += separator;
              first = false;
              const auto value = values[static_cast<std::size_t>(row * column.components + c)];
              using Number = std::decay_t<decltype(value)>;
              if constexpr (std::is_integral_v<Number>)
                fmt::format_to(std::back_inserter(text), "{}", value);
              else
                fmt::format_to(std::back_inserter(text), "{:.{}g}", value, std::numeric_limits<Number>::max_digits10);
            }
          },
          column.data);
    text += '\n';
  }
  return text;
}

}  // namespace nbcc
