// Decodes and encodes text tables. Entry points: decode_text(), encode_text(), text_layout(). Opens no files.
#include "particles/files/text/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "particles/file_error.h"

namespace nbcc {
namespace {

class TextReader {
 public:
  TextReader(std::string_view bytes, const std::string& path, const TextOptions& options)
      : bytes_(bytes), path_(path), options_(options), columns_(options.columns), named_by_caller_(!columns_.empty()) {}

  ParticleTable read() {
    TextLines lines(bytes_, path_, "a text table");
    std::string_view line;
    while (lines.next(line)) {
      line_ = lines.number();
      if (line_ > options_.skip_lines) read_line(line);
    }
    if (line_ < options_.skip_lines)
      throw FileError(
          path_, fmt::format("it has {} only, but --skip-lines is {}", counted(line_, "line"), options_.skip_lines));
    if (!rows_) start_without_rows();
    if (!line.empty() && !lines.has_line_end() && (!words_.empty() || names_line_ == line_))
      table_.warnings.push_back(fmt::format("line {}: {}", line_, cut_off_note(line)));
    return finish();
  }

  // The layout of the text; call it after read().
  TextLayout layout() const {
    TextLayout layout{columns_, names_line_, has_header_row_, 0};
    if (table_is_unnamed_ || named_by_caller_) layout.header_line = 0;
    return layout;
  }

 private:
  void read_line(std::string_view line) {
    const std::size_t hash = line.find('#');
    split(line.substr(0, hash));
    if (words_.empty()) {
      if (hash != std::string_view::npos && !rows_) read_comment(line.substr(hash + 1), hash + 1);
      return;
    }
    if (!rows_ && !has_header_row_ && is_header_row()) {
      has_header_row_ = true;
      if (!named_by_caller_) name_by_row(words_);
      return;
    }
    if (!rows_) start();
    append_row();
  }

  void split(std::string_view line) {
    words_ = words_in(line, 0, true);
    // There must be a value before the first comma, between two commas, and after the last comma.
    bool value_due = true, commas = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] == ',' && value_due) fail(static_cast<long>(at) + 1, "a value is missing before this comma");
      if (!is_blank(line[at])) value_due = line[at] == ',';
      commas = commas || line[at] == ',';
    }
    if (commas && value_due) fail(static_cast<long>(line.size()), "a value is missing after the last comma");
  }

  void read_comment(std::string_view text, std::size_t offset) {
    const std::string_view content = trimmed(text);
    if (content.empty()) return;
    if (const std::size_t colon = content.find(": "); colon != std::string_view::npos) {
      const std::string_view key = content.substr(0, colon);
      const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == ' ' || c == '_' || c == '-';
      };
      if (std::ranges::all_of(key, plain)) table_.attributes.emplace_back(key, trimmed(content.substr(colon + 1)));
      return;
    }
    comments_.push_back({line_, words_in(text, offset, true)});
  }

  bool is_header_row() const {
    const auto is_value = [&](const Word& word) {
      return is_number(word.text) || std::ranges::find(options_.types, unquoted(word.text)) != options_.types.end();
    };
    return std::ranges::none_of(words_, is_value) &&
           (words_.size() > 1 || named_by_caller_ || parse_column_name(unquoted(words_[0].text)));
  }

  static std::vector<std::string_view> names_of(const std::vector<Word>& words) {
    std::vector<std::string_view> names;
    for (const Word& word : words) names.push_back(unquoted(word.text));
    return names;
  }

  // Takes the words of a CSV file's first row as column names. Throws FileError if a word is no name.
  void name_by_row(const std::vector<Word>& words) {
    const std::vector<std::string_view> names = names_of(words);
    const std::vector<ColumnName> columns = gather_columns(names);
    if (columns.empty())
      for (std::size_t k = 0; k < words.size(); ++k)
        if (gather_columns({names[k]}).empty())
          fail(words[k].column, fmt::format("'{}' is neither a number nor the name of a column", shown(words[k].text)));
    columns_ = columns;
    names_line_ = line_;
  }

  // The header is the last comment that has a name for each word of a row (-1: there is no row). If there is none, it
  // is the last comment of names with '[' or ':' in a word ("x[3]"), so that its wrong count is reported.
  void name_by_comment(std::int64_t words_in_row) {
    const auto is_meant = [](const Comment& comment) {
      return std::ranges::any_of(
          comment.words, [](const Word& word) { return word.text.find_first_of("[:") != std::string_view::npos; });
    };
    for (const bool any_count : {false, true})
      for (auto comment = comments_.rbegin(); comment != comments_.rend() && columns_.empty(); ++comment) {
        const std::vector<ColumnName> columns = gather_columns(names_of(comment->words));
        if (columns.empty()) continue;
        const bool fits = words_in_row < 0 || words_per_row(columns) == words_in_row;
        if (!fits && !(any_count && is_meant(*comment))) continue;
        columns_ = columns;
        names_line_ = comment->line;
      }
  }

  void start() {
    if (columns_.empty()) name_by_comment(static_cast<std::int64_t>(words_.size()));
    if (columns_.empty()) {
      table_.unnamed = table_is_unnamed_ = true;
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
    std::vector<RowColumn> columns;
    for (const ColumnName& column : columns_) columns.push_back({column, "", WordColumnKind::Automatic});
    rows_.emplace(path_, std::move(columns), options_);
  }

  void append_row() {
    const auto count = static_cast<std::int64_t>(words_.size());
    const std::int64_t wanted = rows_->words_wanted();
    if (count != wanted) {
      const Word& last = count > wanted ? words_[static_cast<std::size_t>(wanted)] : words_.back();
      const std::string source = named_by_caller_ ? "--columns names"
                                 : table_.unnamed ? fmt::format("line {} has", names_line_)
                                                  : fmt::format("the header in line {} names", names_line_);
      fail(last.column, fmt::format("this row has {}, but {} {}", counted(count, "value"), source, wanted));
    }
    rows_->append(line_, words_);
  }

  [[noreturn]] void fail(long column, const std::string& reason) const {
    throw FileError(path_, line_, column, reason);
  }

  ParticleTable finish() {
    rows_->finish(table_);
    if (const std::optional<std::int64_t> id = repeated_id(table_))
      table_.warnings.push_back(fmt::format("two rows have the id {}", *id));
    if (const std::string fault = table_fault(table_); !fault.empty()) throw FileError(path_, fault);
    return std::move(table_);
  }

  std::string_view bytes_;
  const std::string& path_;
  const TextOptions& options_;
  std::vector<ColumnName> columns_;
  const bool named_by_caller_;
  bool has_header_row_ = false;
  bool table_is_unnamed_ = false;
  long line_ = 0;
  long names_line_ = 0;
  std::vector<Word> words_;  // words of the current line
  struct Comment {
    long line;
    std::vector<Word> words;
  };
  std::vector<Comment> comments_;  // comments above the rows, except "key: value"
  std::optional<TextRows> rows_;   // created at the first row
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
  // One name for each number of a row, without its type, as programs that read CSV expect.
  const char separator = style == TextStyle::Csv ? ',' : '\t';
  bool first = true;
  for (const ParticleColumn& column : table.columns) {
    for (int c = 0; c < column.components; ++c) {
      if (!first) text += separator;
      first = false;
      text += column.components == 1 ? column.name : fmt::format("{}[{}]", column.name, c);
    }
  }
  text += '\n';
}

}  // namespace

ParticleTable decode_text(std::string_view bytes, const std::string& path, const TextOptions& options) {
  return TextReader(bytes, path, options).read();
}

TextLayout text_layout(std::string_view bytes, const std::string& path, const TextOptions& options) {
  TextReader reader(bytes, path, options);
  const ParticleTable table = reader.read();
  TextLayout layout = reader.layout();
  layout.rows = table.rows;
  return layout;
}

void append_number(std::string& text, const ParticleColumn& column, std::int64_t row, int c) {
  std::visit(
      [&](const auto& values) {
        const auto value = values[static_cast<std::size_t>(row * column.components + c)];
        using Number = std::decay_t<decltype(value)>;
        if constexpr (std::is_integral_v<Number>)
          fmt::format_to(std::back_inserter(text), "{}", value);
        else  // the sign of NaN is dropped, because the sign of 0 / 0 differs between processors
          fmt::format_to(std::back_inserter(text), "{:.{}g}", std::isnan(value) ? std::fabs(value) : value,
                         std::numeric_limits<Number>::max_digits10);
      },
      column.data);
}

std::string attribute_line(const std::string& key, const std::string& value) {
  return fmt::format("# {}: {}", key, one_line(value));
}

std::string encode_text(const ParticleTable& table, TextStyle style) {
  std::string text;
  if (style == TextStyle::Plain)
    for (const auto& [key, value] : table.attributes) text += attribute_line(key, value) + '\n';
  if (!table.unnamed) put_header(text, table, style);
  const char separator = style == TextStyle::Plain ? ' ' : style == TextStyle::Csv ? ',' : '\t';
  for (std::int64_t row = 0; row < table.rows; ++row) {
    bool first = true;
    for (const ParticleColumn& column : table.columns)
      for (int c = 0; c < column.components; ++c) {
        if (!first) text += separator;
        first = false;
        append_number(text, column, row, c);
      }
    text += '\n';
  }
  return text;
}

}  // namespace nbcc
