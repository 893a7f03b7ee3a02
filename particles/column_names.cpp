// Parses column names into names, components and types. Entry points: parse_columns() for the option --columns,
// gather_columns() for the words of a header. Reads no numbers and no files.
#include "particles/column_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "runtime/error.h"

namespace nbcc {
namespace {

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool continues_name(char c) { return starts_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/'; }

std::optional<ElementType> element_type(std::string_view name) {
  for (ElementType type : {ElementType::Double, ElementType::Float, ElementType::Int32, ElementType::Int64})
    if (name == element_name(type)) return type;
  return std::nullopt;
}

// Removes "[3]" from the end of a word and returns its number; -1 if the brackets hold no number; nothing if there are
// no brackets.
std::optional<int> take_brackets(std::string_view& word) {
  if (word.empty() || word.back() != ']') return std::nullopt;
  const std::size_t open = word.find('[');
  if (open == std::string_view::npos) return -1;
  const std::string_view inside = word.substr(open + 1, word.size() - open - 2);
  int number = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), number);
  word = word.substr(0, open);
  return error == std::errc() && end == inside.data() + inside.size() && number >= 0 ? number : -1;
}

struct Indexed {
  std::string_view name;
  int index;
};

std::optional<Indexed> indexed_name(std::string_view word) {
  const std::optional<int> index = take_brackets(word);
  if (!index || *index < 0) return std::nullopt;
  return Indexed{word, *index};
}

// The number of words in a run x[0] x[1] ... that starts at `first`; 0 if there is none.
std::size_t indexed_run(const std::vector<std::string_view>& words, std::size_t first) {
  const auto start = indexed_name(words[first]);
  if (!start || start->index != 0) return 0;
  std::size_t length = 1;
  for (; first + length < words.size(); ++length) {
    const auto next = indexed_name(words[first + length]);
    if (!next || next->name != start->name || next->index != static_cast<int>(length)) break;
  }
  return length;
}

// The column name for the three words x y z ("x") or vx vy vz ("v"); nothing for other words.
std::optional<std::string> cartesian_run(const std::vector<std::string_view>& words, std::size_t first) {
  if (first + 3 > words.size() || words[first].empty()) return std::nullopt;
  const std::string_view prefix = words[first].substr(0, words[first].size() - 1);
  for (std::size_t c = 0; c < 3; ++c)
    if (words[first + c].size() != prefix.size() + 1 || !words[first + c].starts_with(prefix) ||
        words[first + c].back() != "xyz"[c])
      return std::nullopt;
  return prefix.empty() ? "x" : std::string(prefix);
}

}  // namespace

ElementType ColumnName::type_or(ElementType otherwise) const {
  if (type) return *type;
  return name == "id" || name.ends_with("_id") ? ElementType::Int64 : otherwise;
}

std::optional<ColumnName> parse_column_name(std::string_view word) {
  ColumnName result;
  if (const std::optional<int> components = take_brackets(word)) {
    if (*components < 1) return std::nullopt;
    result.components = *components;
  }
  if (const std::size_t colon = word.find(':'); colon != std::string_view::npos) {
    result.type = element_type(word.substr(colon + 1));
    if (!result.type) return std::nullopt;
    word = word.substr(0, colon);
  }
  if (word.empty() || !starts_name(word[0]) || !std::ranges::all_of(word, continues_name)) return std::nullopt;
  if (word != "_") result.name = word;
  return result;
}

std::vector<ColumnName> gather_columns(const std::vector<std::string_view>& words) {
  std::vector<ColumnName> columns;
  for (std::size_t k = 0; k < words.size();) {
    if (const std::size_t length = indexed_run(words, k)) {
      std::string_view name = words[k];
      take_brackets(name);
      auto column = parse_column_name(name);
      if (!column) return {};
      column->components = static_cast<int>(length);
      columns.push_back(*column);
      k += length;
    } else if (const auto name = cartesian_run(words, k)) {
      columns.push_back({*name, 3, std::nullopt});
      k += 3;
    } else {
      const auto column = parse_column_name(words[k]);
      if (!column) return {};
      columns.push_back(*column);
      ++k;
    }
  }
  return columns;
}

std::vector<std::size_t> words_of_columns(const std::vector<std::string_view>& words) {
  std::vector<std::size_t> counts;
  for (std::size_t k = 0; k < words.size(); k += counts.back()) {
    const std::size_t indexed = indexed_run(words, k);
    counts.push_back(indexed ? indexed : cartesian_run(words, k) ? 3 : 1);
  }
  return counts;
}

std::vector<ColumnName> parse_columns(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t end = std::min(text.find_first_of(", \t", at), text.size());
    if (end > at) {
      const std::string_view word = text.substr(at, end - at);
      if (!parse_column_name(word) && !indexed_name(word))
        throw UsageError(
            fmt::format("columns: '{}' is not the name of a column; write name, name[3], name:int64 or _", word));
      words.push_back(word);
    }
    at = end + 1;
  }
  const std::vector<ColumnName> columns = gather_columns(words);
  if (columns.empty()) throw UsageError(fmt::format("columns: '{}' names no columns", text));
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (std::size_t other = 0; other < k; ++other)
      if (!columns[k].name.empty() && columns[k].name == columns[other].name)
        throw UsageError(fmt::format("columns: '{}' is named twice", columns[k].name));
  return columns;
}

std::string spell_column(const std::string& name, ElementType type, int components) {
  std::string text = name;
  if (ColumnName{name, 1, std::nullopt}.type_or(ElementType::Double) != type)
    text += fmt::format(":{}", element_name(type));
  if (components > 1) text += fmt::format("[{}]", components);
  return text;
}

std::int64_t words_per_row(const std::vector<ColumnName>& columns) {
  std::int64_t words = 0;
  for (const ColumnName& column : columns) words += column.components;
  return words;
}

}  // namespace nbcc
