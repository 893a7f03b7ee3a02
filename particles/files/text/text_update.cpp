// Writes results into a text table. Entry point: update_text(). Opens no files; text_table.cpp finds the columns.
#include "particles/files/text/text_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "particles/column_names.h"
#include "particles/file_error.h"
#include "particles/run_record.h"
#include "particles/text_words.h"

namespace nbcc {
namespace {

// An output and the column that it replaces, if the text has one of this name.
struct OutputTarget {
  const ParticleColumn* output;
  const ColumnName* replaced = nullptr;  // null: the output is appended
  std::size_t first_word = 0;            // index of the replaced column's first word in a row
};

// A word of the text and its replacement.
struct Change {
  Word word;
  std::string text;
};

class TextUpdate {
 public:
  TextUpdate(std::string_view bytes, const std::string& path, const ParticleTable& results, TextStyle style)
      : bytes_(bytes),
        path_(path),
        results_(results),
        style_(style),
        layout_(text_layout(bytes, path, without_columns())) {
    if (layout_.header_line == 0) throw FileError(path, "its columns have no names");
    if (layout_.rows != results.rows)
      throw FileError(path, fmt::format("it has {}, but there are results for {}: it has changed since it was read",
                                        counted(layout_.rows, "row"), results.rows));
    if (style != TextStyle::Plain) single_column_gap_ = style == TextStyle::Csv ? "," : "\t";
    find_targets();
  }

  std::string make() {
    take_lines();
    const LineRange record = lines_of_record(attributes_, results_);
    const std::size_t mark = bytes_.starts_with("\xef\xbb\xbf") ? 3 : 0;
    result_ = bytes_.substr(0, mark);
    at_ = mark;
    if (record.last == 0) put_record();
    for (std::size_t k = 0; k < lines_.size(); ++k) {
      if (k == record.first && record.last > 0) {
        result_ += bytes_.substr(at_, offset_of(lines_[k]) - at_);
        put_record();
      }
      if (k >= record.first && k < record.last)
        at_ = k + 1 < lines_.size() ? offset_of(lines_[k + 1]) : bytes_.size();
      else
        put_line(k);
    }
    return std::move(result_) + std::string(bytes_.substr(at_));
  }

 private:
  // No column is chosen, so that columns of type names are accepted without --types.
  static TextOptions without_columns() {
    TextOptions options;
    options.choice.all = false;
    return options;
  }

  void find_targets() {
    for (const ParticleColumn& output : results_.columns) {
      OutputTarget target{&output};
      std::size_t word = 0;
      for (const ColumnName& column : layout_.columns) {
        if (column.name == output.name) {
          if (column.components != output.components)
            throw FileError(
                path_, fmt::format("its column '{}' has {} per particle, but the output '{}' has {}: "
                                   "rename the column, or take it out",
                                   column.name, counted(column.components, "number"), output.name, output.components));
          if (target.replaced) throw FileError(path_, fmt::format("two columns are called '{}'", output.name));
          target.replaced = &column;
          target.first_word = word;
        }
        word += std::size_t(column.components);
      }
      outputs_.push_back(target);
    }
  }

  void take_lines() {
    TextLines lines(bytes_, path_, "a text table");
    for (std::string_view line; lines.next(line);) {
      lines_.push_back(line);
      const std::string_view content = line.starts_with("# ") ? trimmed(line.substr(2)) : "";
      attributes_.push_back(content);
    }
    const std::size_t end = bytes_.find_first_of("\r\n");
    if (end != std::string_view::npos) end_ = bytes_.substr(end, bytes_.substr(end, 2) == "\r\n" ? 2 : 1);
    if (bytes_.find('\n') != std::string_view::npos && end_ == "\r") end_ = "\n";
  }

  std::size_t offset_of(std::string_view part) const { return std::size_t(part.data() - bytes_.data()); }

  // CSV and TSV have no place for the record.
  void put_record() {
    if (style_ != TextStyle::Plain) return;
    for (const auto& [key, value] : results_.attributes) result_ += attribute_line(key, value) + end_;
  }

  void put_line(std::size_t k) {
    const std::string_view line = lines_[k];
    const bool is_header = long(k) + 1 == layout_.header_line;
    const std::size_t hash = line.find('#');
    if (is_header && !layout_.header_is_row) return put_header(words_in(line.substr(hash + 1), hash + 1, true), false);
    const std::vector<Word> words = words_in(line.substr(0, hash), 0, true);
    if (words.empty()) return;  // the line is copied unchanged, later
    refuse_cells_of_several_words(k, line.substr(0, hash), words, hash != std::string_view::npos);
    is_header ? put_header(words, true) : put_row(words);
  }

  // Refuses cells that contain blanks or '#': a blank ends a word and '#' ends the row, so that the word after such a
  // cell would have another index than its column.
  void refuse_cells_of_several_words(std::size_t k, std::string_view row, const std::vector<Word>& words,
                                     bool has_comment) const {
    const auto refuse = [&](std::size_t offset, const char* what) {
      throw FileError(path_, std::int64_t(k) + 1, std::int64_t(offset - offset_of(row)) + 1, what);
    };
    const bool is_quoted = std::ranges::count(row, '"') % 2 != 0;
    if (has_comment && !row.empty() &&
        (is_quoted || std::string_view(" \t,").find(row.back()) == std::string_view::npos))
      refuse(offset_of(row) + row.size(), "a '#' within a word: a comment must follow a blank");
    const bool replaces =
        std::ranges::any_of(outputs_, [](const OutputTarget& target) { return target.replaced != nullptr; });
    const char separator = row.find(',') != std::string_view::npos ? ',' : '\t';
    if (!replaces || row.find(separator) == std::string_view::npos) return;
    for (std::size_t w = 1; w < words.size(); ++w) {
      const std::size_t end = offset_of(words[w - 1].text) + words[w - 1].text.size();
      if (bytes_.substr(end, offset_of(words[w].text) - end).find(separator) == std::string_view::npos)
        refuse(offset_of(words[w].text), "a cell of several words: outputs cannot be replaced in such a row");
    }
  }

  void put_row(const std::vector<Word>& words) {
    std::vector<Change> changes;
    std::vector<std::string> added;
    for (const OutputTarget& target : outputs_) {
      for (int c = 0; c < target.output->components; ++c) {
        std::string number;
        append_number(number, *target.output, row_, c);
        if (target.replaced)
          changes.push_back({words.at(target.first_word + std::size_t(c)), number});
        else
          added.push_back(number);
      }
    }
    ++row_;
    put(words, std::move(changes), added);
  }

  // Updates the header. A header row (CSV) has a name for each word of the rows below; a comment has one per column.
  void put_header(const std::vector<Word>& words, bool is_row) {
    std::vector<std::string_view> names;
    for (const Word& word : words) names.push_back(unquoted(word.text));
    const std::vector<std::size_t> counts = words_of_columns(names);
    const std::string_view last = words.back().text;
    const std::string quote = last != unquoted(last) ? std::string(1, last.front()) : "";
    std::vector<Change> changes;
    std::vector<std::string> added;
    for (const OutputTarget& target : outputs_) {
      const ParticleColumn& output = *target.output;
      if (target.replaced) {
        const auto number = std::size_t(target.replaced - layout_.columns.data());
        std::size_t first = 0;
        for (std::size_t k = 0; k < number; ++k) first += counts[k];
        retype(*target.replaced, output, {&words[first], counts[number]}, changes);
        continue;
      }
      const std::string name = spelled(output, 1);
      if (!is_row) added.push_back(spelled(output, output.components));
      for (int c = 0; is_row && c < output.components; ++c)
        added.push_back(quote + (output.components == 1 ? name : fmt::format("{}[{}]", name, c)) + quote);
    }
    put(words, std::move(changes), added);
  }

  // The name of an output's column, with its type in a plain text only.
  std::string spelled(const ParticleColumn& output, int components) const {
    const ColumnName untyped{output.name, 1, std::nullopt};
    return spell_column(output.name, style_ == TextStyle::Plain ? output.type() : untyped.type_or(ElementType::Double),
                        components);
  }

  // Changes the element type in a column's name to the type of the output. A name without a type needs no change for
  // doubles and for integers.
  void retype(const ColumnName& column, const ParticleColumn& output, std::span<const Word> words,
              std::vector<Change>& changes) const {
    const ElementType stated = column.type_or(ElementType::Double);
    const bool whole = output.type() == ElementType::Int64 && stated == ElementType::Double && !column.type;
    if (stated == output.type() || whole || (style_ != TextStyle::Plain && !column.type)) return;
    for (const Word& word : words) {
      const std::string_view name = unquoted(word.text);
      if (!name.starts_with(column.name)) return;  // x y z
      const std::size_t bracket = name.find('['), quoted = word.text != name ? 1 : 0;
      std::string text = std::string(word.text.substr(0, quoted)) + spell_column(column.name, output.type(), 1);
      if (bracket != std::string_view::npos) text += name.substr(bracket);
      text += word.text.substr(word.text.size() - quoted);
      changes.push_back({word, text});
    }
  }

  // Copies a line with `changes` applied and `added` words appended.
  void put(const std::vector<Word>& words, std::vector<Change> changes, const std::vector<std::string>& added) {
    const auto end_of = [&](const Word& word) { return offset_of(word.text) + word.text.size(); };
    std::ranges::sort(changes, {}, [&](const Change& change) { return offset_of(change.word.text); });
    for (const Change& change : changes) {
      result_ += bytes_.substr(at_, offset_of(change.word.text) - at_);
      result_ += change.text;
      at_ = end_of(change.word);
    }
    const std::size_t last = end_of(words.back());
    result_ += bytes_.substr(at_, last - at_);
    at_ = last;
    std::string gap = single_column_gap_;
    if (words.size() > 1) {
      const std::size_t begin = end_of(words[words.size() - 2]);
      const std::string_view before = bytes_.substr(begin, offset_of(words.back().text) - begin);
      const bool commas = before.find(',') != std::string_view::npos,
                 tabs = before.find('\t') != std::string_view::npos;
      gap = commas ? std::string(before) : tabs ? "\t" : " ";
    }
    for (const std::string& text : added) result_ += gap + text;
  }

  const std::string_view bytes_;
  const std::string& path_;
  const ParticleTable& results_;
  const TextStyle style_;
  const TextLayout layout_;
  std::string single_column_gap_ = " ", end_ = "\n";
  std::vector<OutputTarget> outputs_;
  std::vector<std::string_view> lines_, attributes_;  // [line]; attributes_: the text after "# " of a comment line
  std::int64_t row_ = 0;
  std::string result_;
  std::size_t at_ = 0;  // the bytes of the text before this offset are in result_, unchanged or replaced
};

}  // namespace

std::string update_text(std::string_view bytes, const std::string& path, const ParticleTable& results,
                        TextStyle style) {
  return TextUpdate(bytes, path, results, style).make();
}

}  // namespace nbcc
