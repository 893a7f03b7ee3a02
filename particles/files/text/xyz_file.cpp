// Decodes .xyz and .extxyz files. CommentEntry points: decode_xyz(), frames_of_xyz(). Opens no files. Interprets only
// Properties of the comment; other keys become attributes.
#include "particles/files/text/xyz_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "particles/file_error.h"
#include "particles/numbers.h"

namespace nbcc {
namespace {

constexpr const char* kXyzFile = "an .xyz file";

// A key of the comment and its value, without quotes.
struct CommentEntry {
  std::string key, value;
  long column;  // of the value
};

// Translates the column names of other programs to nbcc's.
std::string_view usual_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"species", "type"}, {"pos", "x"},      {"positions", "x"},      {"position", "x"}, {"velo", "v"},
      {"vel", "v"},        {"velocity", "v"}, {"velocities", "v"},     {"mass", "m"},     {"masses", "m"},
      {"charge", "q"},     {"charges", "q"},  {"initial_charges", "q"}};
  for (const auto& [theirs, ours] : names)
    if (name == theirs) return ours;
  return name;
}

char closing(char open) { return open == '{' ? '}' : open == '[' ? ']' : open; }

bool is_key(std::string_view key, std::string_view lower_case) {
  return std::ranges::equal(key, lower_case, {}, [](unsigned char c) { return char(std::tolower(c)); });
}

// True if the key has only characters that keys of attributes may have.
bool may_be_key(std::string_view key) {
  return !key.empty() &&
         std::ranges::all_of(key, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

class XyzReader {
 public:
  XyzReader(std::string_view bytes, const std::string& path, const TextOptions& options, long first_line)
      : path_(path), options_(options), first_line_(first_line), lines_(bytes, path, kXyzFile, first_line) {
    if (bytes.empty()) throw FileError(path, "the file is empty");
  }

  ParticleTable read() {
    read_count();
    std::string_view comment;
    if (!lines_.next(comment))
      throw FileError(path_, fmt::format("it ends after line {0}; an .xyz file has a comment in line {1}", first_line_,
                                         first_line_ + 1));
    read_comment(comment);
    read_rows();
    table_.of_other_format = true;
    return std::move(table_);
  }

 private:
  void read_count() {
    std::string_view line;
    lines_.next(line);
    const std::vector<Word> words = words_in(line);
    if (words.size() != 1 || read_number(words[0].text, count_) != std::errc() || count_ < 0)
      throw FileError(
          path_, first_line_, words.empty() ? 1 : words[0].column,
          fmt::format("'{}' is not the number of atoms, which must be alone in the first line of an .xyz file; "
                      "tables of numbers have other endings, as .txt",
                      shown(trimmed(line))));
  }

  void read_comment(std::string_view line) {
    bool named = !options_.columns.empty();
    for (const ColumnName& column : options_.columns) columns_.push_back({column, "", WordColumnKind::Automatic});
    const std::vector<CommentEntry> entries = entries_of(line);
    for (const CommentEntry& entry : entries) {
      if (!is_key(entry.key, "properties")) {
        if (may_be_key(entry.key)) table_.attributes.emplace_back(entry.key, entry.value);
        continue;
      }
      if (options_.columns.empty()) read_properties(entry);
      named = true;
    }
    if (entries.empty() && !trimmed(line).empty()) table_.attributes.emplace_back("comment", trimmed(line));
    source_ =
        !options_.columns.empty() ? "--columns names" : fmt::format("Properties in line {} names", first_line_ + 1);
    if (named) return;
    columns_.push_back({{"type", 1, ElementType::Int32}, "species", WordColumnKind::Automatic});
    columns_.push_back({{"x", 3, {}}, "", WordColumnKind::Number});
    source_ = "an .xyz file without Properties has the species and three coordinates,";
  }

  // Parses key=value; the value may be "several words" in quotes. Words without '=' are ignored.
  std::vector<CommentEntry> entries_of(std::string_view line) const {
    std::vector<CommentEntry> entries;
    for (std::size_t at = 0; at < line.size();) {
      while (at < line.size() && is_blank(line[at])) ++at;
      const std::size_t begin = at;
      while (at < line.size() && !is_blank(line[at]) && line[at] != '=') ++at;
      if (at >= line.size() || line[at] != '=') continue;
      const std::string key(unquoted(line.substr(begin, at - begin)));
      entries.push_back(value_at(line, ++at, key));
    }
    return entries;
  }

  CommentEntry value_at(std::string_view line, std::size_t& at, const std::string& key) const {
    CommentEntry entry{key, "", static_cast<long>(at) + 1};
    const bool quoted = at < line.size() && std::string_view("\"'{[").find(line[at]) != std::string_view::npos;
    if (!quoted) {
      while (at < line.size() && !is_blank(line[at])) entry.value += line[at++];
      return entry;
    }
    const char end = closing(line[at++]);
    while (at < line.size() && line[at] != end) {
      if (line[at] == '\\' && at + 1 < line.size()) ++at;
      entry.value += line[at++];
    }
    // A comment may be any text, so a missing quote is an error only in Properties.
    if (at >= line.size() && is_key(key, "properties"))
      fail(entry.column, fmt::format("the value of {} has no closing {}", key, end));
    ++at;
    return entry;
  }

  void read_properties(const CommentEntry& entry) {
    const std::vector<std::string_view> parts = split(entry.value, ':');
    if (parts.size() % 3 != 0 || parts.empty())
      fail(entry.column,
           fmt::format("Properties '{}' are not of the form name:type:count:name:type:count...", shown(entry.value)));
    std::vector<std::string_view> names;
    for (std::size_t k = 0; k < parts.size(); k += 3) names.push_back(parts[k]);
    for (std::size_t k = 0; k < parts.size(); k += 3) {
      RowColumn column = property(entry, parts[k], parts[k + 1], parts[k + 2]);
      // A column keeps the file's name if another column already has nbcc's name or would get it.
      const std::string ours(usual_name(parts[k]));
      const auto same = [&](std::string_view other) { return usual_name(other) == ours; };
      if (ours != parts[k] && std::ranges::count_if(names, same) == 1) {
        column.name_in_file = column.column.name;
        column.column.name = ours;
      }
      columns_.push_back(std::move(column));
    }
  }

  RowColumn property(const CommentEntry& entry, std::string_view name, std::string_view type,
                     std::string_view count) const {
    int components = 0;
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), components);
    if (name.empty() || error != std::errc() || end != count.data() + count.size() || components < 1 ||
        components > kMaxComponents)
      fail(entry.column, fmt::format("Properties: '{}:{}:{}' does not say how many numbers a column has", shown(name),
                                     shown(type), shown(count)));
    constexpr std::pair<std::string_view, std::pair<WordColumnKind, ElementType>> kinds[] = {
        {"R", {WordColumnKind::Number, ElementType::Double}},
        {"I", {WordColumnKind::Number, ElementType::Int64}},
        {"S", {WordColumnKind::Automatic, ElementType::Int32}},
        {"L", {WordColumnKind::Truth, ElementType::Int32}}};
    for (const auto& [letter, kind] : kinds)
      if (type == letter) return {{std::string(name), components, kind.second}, "", kind.first};
    fail(entry.column,
         fmt::format("Properties: '{}' is of type '{}'; there are R, I, S and L", shown(name), shown(type)));
  }

  void read_rows() {
    TextRows rows(path_, columns_, options_);
    std::string_view line;
    for (std::int64_t k = 0; k < count_; ++k) {
      if (!lines_.next(line))
        throw FileError(
            path_, fmt::format("it ends after {} of the {} that line {} says", counted(k, "row"), count_, first_line_));
      const std::vector<Word> words = words_in(line);
      const auto count = static_cast<std::int64_t>(words.size());
      if (count != rows.words_wanted())
        fail(words.empty() ? 1 : words[std::size_t(std::min(count - 1, rows.words_wanted()))].column,
             fmt::format("this row has {}, but {} {}{}", counted(count, "value"), source_, rows.words_wanted(),
                         options_.columns.empty() ? "; --columns names them otherwise, as type,x[3],v[3]" : ""));
      rows.append(lines_.number(), words);
    }
    if (count_ > 0 && !lines_.has_line_end()) fail(1, cut_off_note(line) + "; add a line end if it is not");
    while (lines_.next(line))
      if (!trimmed(line).empty())
        fail(1, fmt::format("more lines follow the {} that line {} says; another frame begins with its number of atoms",
                            counted(count_, "row"), first_line_));
    rows.finish(table_);
  }

  [[noreturn]] void fail(long column, const std::string& reason) const {
    throw FileError(path_, lines_.number(), column, reason);
  }

  static constexpr int kMaxComponents = 100000;

  const std::string& path_;
  const TextOptions& options_;
  const long first_line_;
  TextLines lines_;
  std::int64_t count_ = 0;
  std::vector<RowColumn> columns_;
  std::string source_;  // of the columns, for messages
  ParticleTable table_;
};

}  // namespace

std::vector<ParticleFrame> frames_of_xyz(std::string_view bytes, const std::string& path) {
  std::vector<ParticleFrame> frames;
  TextLines lines(bytes, path, kXyzFile);
  std::string_view line;
  for (bool more = lines.next(line); more; more = lines.next(line)) {
    if (trimmed(line).empty() && !frames.empty()) continue;
    std::int64_t count = 0;
    const bool is_count = read_number(trimmed(line), count) == std::errc() && count >= 0;
    // decode_xyz() reports what else follows the rows of a frame.
    if (!is_count && !frames.empty()) break;
    const std::size_t first = frames.empty() ? 0 : std::size_t(line.data() - bytes.data());
    if (!frames.empty()) frames.back().last = first;
    frames.push_back({first, bytes.size(), lines.number(), ""});
    if (!is_count) break;
    for (std::int64_t k = 0; k <= count && lines.next(line); ++k) continue;
  }
  return frames;
}

ParticleTable decode_xyz(std::string_view bytes, const std::string& path, const TextOptions& options, long first_line) {
  return XyzReader(bytes, path, options, first_line).read();
}

}  // namespace nbcc
