// Converts rows of words to columns of numbers. Entry point: TextRows. Splits no lines and knows no file formats.
#include "particles/files/text/text_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "particles/file_error.h"
#include "particles/numbers.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

constexpr std::size_t kMaxNamesInMessage = 20;  // limit of the names that a message lists

}  // namespace

std::vector<std::string> parse_types(std::string_view text) {
  std::vector<std::string> types;
  if (text.empty()) throw UsageError("--types: no name is given; write them as H,O");
  for (const std::string_view part : split(text, ',')) {
    const std::string_view name = trimmed(part);
    if (name.empty()) throw UsageError(fmt::format("--types: a name is missing in '{}'; write them as H,O", text));
    if (is_number(name)) throw UsageError(fmt::format("--types: '{}' is a number, not a name", name));
    if (std::ranges::find(types, name) != types.end())
      throw UsageError(fmt::format("--types: '{}' is named twice", name));
    types.emplace_back(name);
  }
  return types;
}

std::optional<std::int64_t> repeated_id(const ParticleTable& table) {
  const ParticleColumn* const column = table.find("id");
  const auto* const ids =
      column && column->components == 1 ? std::get_if<std::vector<std::int64_t>>(&column->data) : nullptr;
  if (!ids) return std::nullopt;
  std::vector<std::int64_t> sorted = *ids;
  std::erase(sorted, 0);
  if (!std::ranges::is_sorted(sorted)) std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  return twice == sorted.end() ? std::nullopt : std::optional(*twice);
}

TextRows::TextRows(std::string path, std::vector<RowColumn> columns, const TextOptions& options, std::string types_from)
    : path_(std::move(path)),
      columns_(std::move(columns)),
      types_(options.types),
      types_from_(std::move(types_from)),
      choice_(options.choice) {
  for (const RowColumn& each : columns_) {
    words_wanted_ += each.column.components;
    for (int c = 0; c < each.column.components; ++c) word_columns_.push_back({each.kind, 0, 0, {}});
    if (each.column.name.empty()) continue;
    data_.push_back({each.column.name, each.column.components, make_data(each.column.type_or(ElementType::Double), 0),
                     each.name_in_file});
    // A column "data" holds all numbers of an unnamed table and stays double.
    exact_integers_.emplace_back().possible =
        !each.column.type && data_.back().type() == ElementType::Double && data_.back().name != "data";
    asked_.push_back(choice_.takes(each.column.name, each.name_in_file));
    is_beyond_.push_back(false);
  }
}

void TextRows::ExactIntegers::take(const Word& word) {
  constexpr std::size_t kExactDigits = 15;  // a double represents every integer of this many digits
  if (!possible && word.text.size() <= kExactDigits) return;
  std::int64_t value = 0;
  const std::errc error = read_digits(word.text, value);
  double number = 0;
  if (error != std::errc::invalid_argument && rounded.empty() && read_number(word.text, number) == std::errc()) {
    std::string_view digits = word.text;
    digits.remove_prefix(std::min(digits.find_first_not_of("+-0"), digits.size()));
    const bool whole = digits.find_first_not_of("0123456789") == std::string_view::npos;
    if (whole && digits.size() > kExactDigits && fmt::format("{:.0f}", std::fabs(number)) != digits)
      rounded = word.text;
  }
  if (error != std::errc()) {
    possible = false;
    values = {};
  }
  if (!possible) return;
  values.push_back(value);
}

// Decides from the first row which columns hold numbers and which hold type names.
void TextRows::decide_kinds(const std::vector<Word>& words) {
  for (std::size_t k = 0; k < words.size(); ++k)
    if (word_columns_[k].kind == WordColumnKind::Automatic)
      word_columns_[k].kind = is_number(words[k].text) ? WordColumnKind::Number : WordColumnKind::Name;
  std::size_t first = 0, column = 0;
  for (const RowColumn& each : columns_) {
    const auto begin = word_columns_.begin() + std::ptrdiff_t(first), end = begin + each.column.components;
    first += std::size_t(each.column.components);
    if (each.column.name.empty()) continue;
    const bool names =
        std::all_of(begin, end, [](const WordColumn& word_column) { return word_column.kind == WordColumnKind::Name; });
    if (names && !each.column.type && each.column.name != "data") data_[column].data = std::vector<std::int32_t>();
    ++column;
  }
}

void TextRows::append(long line, const std::vector<Word>& words) {
  line_ = line;
  if (rows_ == 0) decide_kinds(words);
  std::size_t word = 0, column = 0;
  for (const RowColumn& each : columns_) {
    if (!each.column.name.empty()) {
      append(data_[column], word, words);
      ++column;
    }
    word += std::size_t(each.column.components);
  }
  ++rows_;
}

void TextRows::append(ParticleColumn& column, std::size_t first, const std::vector<Word>& words) {
  const auto number = std::size_t(&column - data_.data());
  const bool asked = asked_[number];
  std::visit(
      [&](auto& values) {
        for (int c = 0; c < column.components; ++c) {
          using Value = typename std::decay_t<decltype(values)>::value_type;
          Value value{};
          const Word& word = words[first + std::size_t(c)];
          WordColumn& word_column = word_columns_[first + std::size_t(c)];
          if (word_column.kind == WordColumnKind::Name) {
            value = static_cast<Value>(number_of_name(word_column, word, asked));
          } else if (word_column.kind == WordColumnKind::Truth) {
            value = static_cast<Value>(number_of_truth(word));
          } else if (const std::errc error = read_number(word.text, value); error != std::errc()) {
            if (asked || error != std::errc::result_out_of_range) refuse(word, error, column);
            is_beyond_[number] = true;
          }
          if constexpr (std::is_same_v<Value, double>) exact_integers_[number].take(word);
          values.push_back(value);
        }
      },
      column.data);
}

double TextRows::number_of_name(WordColumn& word_column, const Word& word, bool asked) {
  if (!asked) return 0;
  const std::string_view name = unquoted(word.text);
  const auto type = std::ranges::find(types_, name);
  types_used_ = true;
  if (type != types_.end()) return double(type - types_.begin());
  if (!types_.empty()) {
    std::vector<std::string> known;
    for (const std::string& each : types_)
      if (!each.empty()) known.push_back(each);
    fail(word.column, fmt::format("'{}' is not among the types of {}, which are {}", shown(name), types_from_,
                                  fmt::join(known, ", ")));
  }
  if (word_column.names.empty()) {
    word_column.line = line_;
    word_column.column = word.column;
  }
  if (word_column.names.size() <= kMaxNamesInMessage &&
      std::ranges::find(word_column.names, name) == word_column.names.end())
    word_column.names.emplace_back(name);
  return 0;
}

double TextRows::number_of_truth(const Word& word) const {
  for (const std::string_view yes : {"T", "True", "true", "TRUE"})
    if (word.text == yes) return 1;
  for (const std::string_view no : {"F", "False", "false", "FALSE"})
    if (word.text == no) return 0;
  fail(word.column, fmt::format("'{}' is neither T nor F", shown(word.text)));
}

void TextRows::refuse(const Word& word, std::errc error, const ParticleColumn& column) const {
  const bool whole = column.type() == ElementType::Int32 || column.type() == ElementType::Int64;
  if (error == std::errc::result_out_of_range)
    fail(word.column, fmt::format("'{}' is beyond the range of {}", shown(word.text), element_name(column.type())));
  if (whole && is_number(word.text))
    fail(word.column, fmt::format("'{}' is not a whole number, but column '{}' is {}", shown(word.text), column.name,
                                  element_name(column.type())));
  fail(word.column, fmt::format("'{}' is not a number", shown(word.text)));
}

void TextRows::refuse_names(const WordColumn& word_column) const {
  const bool more = word_column.names.size() > kMaxNamesInMessage;
  std::vector<std::string> names;
  for (const std::string& name : word_column.names)
    if (names.size() < kMaxNamesInMessage) names.push_back(shown(name));
  throw FileError(
      path_, word_column.line, word_column.column,
      fmt::format("'{}' is not a number; if the names in this column are types ({}{}), say --types {}{}", names[0],
                  fmt::join(names, ", "), more ? " and more" : "", fmt::join(names, ","), more ? ",..." : ""));
}

void TextRows::fail(long column, const std::string& reason) const { throw FileError(path_, line_, column, reason); }

void TextRows::finish(ParticleTable& table) {
  for (const WordColumn& word_column : word_columns_)
    if (!word_column.names.empty()) refuse_names(word_column);
  table.rows = rows_;
  table.types_used = types_used_ && types_from_ == kTypesOption;
  std::size_t first = 0, column = 0;
  for (const RowColumn& each : columns_) {
    const auto begin = word_columns_.begin() + std::ptrdiff_t(first), end = begin + each.column.components;
    first += std::size_t(each.column.components);
    if (each.column.name.empty()) continue;
    const bool names =
        std::any_of(begin, end, [](const WordColumn& word_column) { return word_column.kind == WordColumnKind::Name; });
    ExactIntegers& whole = exact_integers_[column];
    if (whole.possible && !whole.rounded.empty())
      data_[column].data = std::move(whole.values);
    else if (!whole.rounded.empty() && table.rounded.empty())
      table.rounded = fmt::format("column '{}' holds {}", each.column.name, shown(whole.rounded));
    if ((!names || asked_[column]) && !is_beyond_[column]) table.columns.push_back(std::move(data_[column]));
    ++column;
  }
}

}  // namespace nbcc
