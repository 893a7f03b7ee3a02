// Decodes dump files of LAMMPS. Entry points: decode_dump(), frames_of_dump(), looks_like_dump(). Opens no files.
// Input: bytes; output: a table of one frame. Reads no binary dumps and no dumps of bonds, grids or cells.
#include "particles/files/text/lammps_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "particles/file_error.h"

namespace nbcc {
namespace {

constexpr const char* kDumpFile = "a LAMMPS dump file";
constexpr std::string_view kItem = "ITEM:";

using Vector = std::array<double, 3>;

bool begins_frame(std::string_view item) { return item == "TIMESTEP" || item == "UNITS" || item == "TIME"; }

// The text after "ITEM:", or nothing.
std::optional<std::string_view> item_in(std::string_view line) {
  if (!line.starts_with(kItem)) return std::nullopt;
  return trimmed(line.substr(kItem.size()));
}

bool is_item(std::string_view item, std::string_view name) {
  return item.starts_with(name) && (item.size() == name.size() || is_blank(item[name.size()]));
}

// The three words of a vector that begin at words[k]: "xs ys zs" for the pattern "?s".
bool is_triple(const std::vector<Word>& words, std::size_t k, std::string_view before, std::string_view after) {
  if (k + 3 > words.size()) return false;
  for (std::size_t c = 0; c < 3; ++c)
    if (words[k + c].text != fmt::format("{}{}{}", before, "xyz"[c], after)) return false;
  return true;
}

// The words of the positions, in order of preference: x y z, xs ys zs, xu yu zu, xsu ysu zsu.
constexpr std::string_view kPositionEndings[] = {"", "s", "u", "su"};

bool is_scaled(std::string_view ending) { return ending.starts_with('s'); }

// The number of words c_name[1] c_name[2] ... that begin at words[k]; 0 if words[k] is not c_name[1].
std::size_t words_of_array(const std::vector<Word>& words, std::size_t k) {
  const std::size_t open = words[k].text.find('[');
  if (open == std::string_view::npos) return 0;
  const std::string_view name = words[k].text.substr(0, open);
  std::size_t count = 0;
  while (k + count < words.size() && words[k + count].text == fmt::format("{}[{}]", name, count + 1)) ++count;
  return count;
}

class DumpReader {
 public:
  DumpReader(std::string_view frame, const std::string& path, const TextOptions& options, long first_line)
      : path_(path), options_(options), lines_(frame, path, kDumpFile, first_line), first_line_(first_line) {}

  ParticleTable read() {
    std::string_view line;
    while (!done_ && lines_.next(line)) {
      if (trimmed(line).empty()) continue;
      const std::optional<std::string_view> item = item_in(line);
      if (!item) fail(1, fmt::format("'{}' is not an item of a dump file, as 'ITEM: TIMESTEP'", shown(trimmed(line))));
      read_item(*item, line);
    }
    if (!done_)
      throw FileError(path_, fmt::format("the frame that ends at line {} has no ITEM: ATOMS", lines_.number()));
    while (lines_.next(line))
      if (!trimmed(line).empty())
        fail(1, fmt::format("more lines follow the {} that ITEM: NUMBER OF ATOMS says", counted(count_, "row")));
    table_.of_other_format = true;
    return std::move(table_);
  }

 private:
  void read_item(std::string_view item, std::string_view line) {
    const std::string name(is_item(item, "BOX BOUNDS") ? "BOX BOUNDS" : item);
    if (!items_.insert(name).second)
      fail(1, fmt::format("ITEM: {} comes twice before ITEM: ATOMS; the frame that begins at line {} is cut off",
                          shown(name), first_line_));
    if (is_item(item, "BOX BOUNDS")) return read_box(words_in(item));
    if (is_item(item, "ATOMS")) return read_atoms(words_in(line));
    constexpr std::pair<std::string_view, const char*> values[] = {
        {"TIMESTEP", "TIMESTEP"}, {"UNITS", "units"}, {"TIME", "time"}, {"NUMBER OF ATOMS", ""}};
    for (const auto& [name, key] : values) {
      if (item != name) continue;
      std::string_view value;
      if (!lines_.next(value)) throw FileError(path_, fmt::format("it ends after ITEM: {}", item));
      if (*key) table_.attributes.emplace_back(key, trimmed(value));
      if (!*key && (read_number(trimmed(value), count_) != std::errc() || count_ < 0))
        fail(1, fmt::format("'{}' is not a number of atoms", shown(trimmed(value))));
      return;
    }
    fail(1, fmt::format("nbcc reads dumps of atoms; it does not know ITEM: {}", shown(item)));
  }

  // "BOX BOUNDS [xy xz yz | abc origin] [pp pp pp]" and three lines of two, three or four numbers.
  void read_box(const std::vector<Word>& words) {
    std::string kind, boundary;
    for (std::size_t k = 2; k < words.size(); ++k) {
      const std::string_view word = words[k].text;
      const bool tilt = word == "xy" || word == "xz" || word == "yz" || word == "abc" || word == "origin";
      std::string& text = tilt ? kind : boundary;
      text += (text.empty() ? "" : " ") + std::string(word);
    }
    const std::size_t count = kind.empty() ? 2 : kind == "xy xz yz" ? 3 : kind == "abc origin" ? 4 : 0;
    if (count == 0) fail(1, fmt::format("nbcc does not know a box of the kind '{}'", shown(kind)));
    double rows[3][4] = {};
    for (auto& row : rows) {
      std::string_view line;
      if (!lines_.next(line)) throw FileError(path_, "it ends within ITEM: BOX BOUNDS");
      const std::vector<Word> numbers = words_in(line);
      if (numbers.size() != count)
        fail(1,
             fmt::format("a line of this box has {}, not {}", counted(std::int64_t(numbers.size()), "number"), count));
      for (std::size_t k = 0; k < count; ++k)
        if (read_number(numbers[k].text, row[k]) != std::errc())
          fail(numbers[k].column, fmt::format("'{}' is not a number", shown(numbers[k].text)));
    }
    for (const auto& row : rows)
      for (std::size_t k = 0; k < count; ++k)
        if (!std::isfinite(row[k])) fail(1, fmt::format("'{}' bounds no box", row[k]));
    set_box(rows, count);
    for (std::size_t k = 0; k < 3 && count < 4; ++k)
      if (!(cell_[k][k] > 0))
        fail(1, fmt::format("the box has the length {} in {}, which is not positive", cell_[k][k], "xyz"[k]));
    if (const std::size_t letters = words_in(boundary).size(); letters != 0 && letters != 3)
      fail(1, fmt::format("'{}' says the boundaries of {} directions, not of 3", shown(boundary), letters));
    if (!boundary.empty()) table_.attributes.emplace_back("boundary", boundary);
    has_box_ = true;
  }

  void set_box(const double (&rows)[3][4], std::size_t count) {
    if (count == 4) {  // three vectors and the origin, in the last column
      constexpr const char* keys[] = {"avec", "bvec", "cvec"};
      for (std::size_t k = 0; k < 3; ++k) {
        cell_[k] = {rows[k][0], rows[k][1], rows[k][2]};
        origin_[k] = rows[k][3];
        table_.attributes.emplace_back(keys[k], fmt::format("{}", fmt::join(cell_[k], " ")));
      }
      table_.attributes.emplace_back("abc origin", fmt::format("{}", fmt::join(origin_, " ")));
      return;
    }
    // A tilted box is stored as its bounding box.
    const double xy = rows[0][2], xz = rows[1][2], yz = rows[2][2];
    const Vector low = {rows[0][0] - std::min({0.0, xy, xz, xy + xz}), rows[1][0] - std::min(0.0, yz), rows[2][0]},
                 high = {rows[0][1] - std::max({0.0, xy, xz, xy + xz}), rows[1][1] - std::max(0.0, yz), rows[2][1]};
    constexpr const char* keys[] = {"xlo xhi", "ylo yhi", "zlo zhi"};
    for (std::size_t k = 0; k < 3; ++k) {
      cell_[k][k] = high[k] - low[k];
      table_.attributes.emplace_back(keys[k], fmt::format("{} {}", low[k], high[k]));
    }
    origin_ = low;
    if (count != 3) return;
    cell_[1][0] = xy, cell_[2][0] = xz, cell_[2][1] = yz;
    table_.attributes.emplace_back("xy xz yz", fmt::format("{} {} {}", xy, xz, yz));
  }

  // The columns of a row; words[0] and words[1] are "ITEM: ATOMS".
  std::vector<RowColumn> columns_of(const std::vector<Word>& words) {
    std::vector<RowColumn> columns;
    std::size_t at = 2;
    for (const ColumnName& column : options_.columns) {
      for (const std::string_view ending : kPositionEndings)
        if (column.name == "x" && is_scaled(ending) && at < words.size() && is_triple(words, at, "", ending))
          fail(words[at].column, fmt::format("--columns calls {0} {1} {2} x, but these positions are scaled by the "
                                             "box: leave out --columns, or choose another name",
                                             words[at].text, words[at + 1].text, words[at + 2].text));
      columns.push_back({column, "", WordColumnKind::Automatic});
      at += std::size_t(column.components);
    }
    if (!columns.empty()) return columns;
    if (words.size() < 3) fail(1, "ITEM: ATOMS names no columns; name them by --columns, as id,type,x[3]");
    position_ending_ = preferred_ending(words);
    const bool has_type = std::ranges::find(words, "type", &Word::text) != words.end();
    for (std::size_t k = 2; k < words.size();) {
      const std::size_t count = add_column(words, k, has_type, columns);
      k += count;
    }
    return columns;
  }

  static std::optional<std::string_view> preferred_ending(const std::vector<Word>& words) {
    for (const std::string_view ending : kPositionEndings)
      for (std::size_t k = 2; k < words.size(); ++k)
        if (is_triple(words, k, "", ending)) return ending;
    return std::nullopt;
  }

  // Appends the column that begins at words[k] and returns the number of its words.
  std::size_t add_column(const std::vector<Word>& words, std::size_t k, bool has_type,
                         std::vector<RowColumn>& columns) {
    const std::string word(words[k].text);
    for (const std::string_view ending : kPositionEndings) {
      if (!is_triple(words, k, "", ending)) continue;
      const bool ours = ending == position_ending_;
      // Scaled positions that are converted are not found by the file's name, which means other numbers.
      columns.push_back({{ours ? "x" : word, 3, {}}, ours && ending == "u" ? word : "", WordColumnKind::Number});
      return 3;
    }
    if (is_triple(words, k, "i", "")) {
      columns.push_back({{"image", 3, ElementType::Int32}, word, WordColumnKind::Number});
      return 3;
    }
    const std::string prefix = word.substr(0, word.size() - 1);
    if (is_triple(words, k, prefix, "") && !prefix.empty()) {
      columns.push_back({{prefix, 3, {}}, "", WordColumnKind::Number});
      return 3;
    }
    if (const std::size_t count = words_of_array(words, k)) {
      columns.push_back({{word.substr(0, word.find('[')), int(count), {}}, "", WordColumnKind::Number});
      return count;
    }
    const bool is_element = word == "element" && !has_type;
    std::string name = word == "mass" ? "m" : is_element ? "type" : word;
    std::ranges::replace(name, '[', '_');
    std::erase(name, ']');
    std::optional<ElementType> type;
    if (name == "type") type = ElementType::Int32;
    if (name == "mol") type = ElementType::Int64;
    columns.push_back({{name, 1, type}, name == word ? "" : word, WordColumnKind::Automatic});
    return 1;
  }

  void read_atoms(const std::vector<Word>& words) {
    if (count_ < 0) fail(1, "ITEM: NUMBER OF ATOMS does not come before ITEM: ATOMS");
    const std::vector<RowColumn> columns = columns_of(words);
    const long header = lines_.number();
    TextRows rows(path_, columns, options_);
    std::string_view line;
    for (std::int64_t k = 0; k < count_; ++k) {
      if (!lines_.next(line))
        throw FileError(path_, fmt::format("it ends after {} of the {} of the frame whose rows begin at line {}",
                                           counted(k, "row"), count_, header + 1));
      const std::vector<Word> row = words_in(line);
      const auto count = std::int64_t(row.size());
      if (count != rows.words_wanted())
        fail(row.empty() ? 1 : row[std::size_t(std::min(count - 1, rows.words_wanted()))].column,
             options_.columns.empty() ? fmt::format("this row has {}, but line {} names {}", counted(count, "value"),
                                                    header, rows.words_wanted())
                                      : fmt::format("this row has {}, but --columns names {}", counted(count, "value"),
                                                    rows.words_wanted()));
      rows.append(lines_.number(), row);
    }
    if (count_ > 0 && !lines_.has_line_end()) fail(1, cut_off_note(line) + "; add a line end if it is not");
    rows.finish(table_);
    if (const std::optional<std::int64_t> id = repeated_id(table_))
      throw FileError(
          path_, fmt::format("two atoms of the frame whose rows begin at line {} have the id {}", header + 1, *id));
    if (position_ending_ && is_scaled(*position_ending_)) undo_scaling(header);
    done_ = true;
  }

  // x = origin + xs a + ys b + zs c
  void undo_scaling(long header) {
    if (!has_box_)
      throw FileError(path_, header, 1, "the positions are scaled by a box, but there is no ITEM: BOX BOUNDS");
    const auto x = std::ranges::find(table_.columns, "x", &ParticleColumn::name);
    *x = convert(*x, ElementType::Double);
    std::vector<double>& values = std::get<std::vector<double>>(x->data);
    for (std::size_t row = 0; row + 3 <= values.size(); row += 3) {
      Vector moved = origin_;
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t c = 0; c < 3; ++c) moved[c] += values[row + k] * cell_[k][c];
      std::ranges::copy(moved, values.begin() + std::ptrdiff_t(row));
    }
  }

  [[noreturn]] void fail(long column, const std::string& reason) const {
    throw FileError(path_, lines_.number(), column, reason);
  }

  const std::string& path_;
  const TextOptions& options_;
  TextLines lines_;
  const long first_line_;
  std::set<std::string> items_;  // of the frame so far
  std::int64_t count_ = -1;
  bool has_box_ = false, done_ = false;
  std::array<Vector, 3> cell_{};  // [lattice vector][component]
  Vector origin_{};
  std::optional<std::string_view> position_ending_;  // of the words that become x
  ParticleTable table_;
};

}  // namespace

bool looks_like_dump(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, std::min<std::size_t>(bytes.find_first_of("\r\n"), 64));
  const std::optional<std::string_view> item = item_in(line);
  return item && begins_frame(*item);
}

std::vector<ParticleFrame> frames_of_dump(std::string_view bytes, const std::string& path) {
  std::vector<ParticleFrame> frames;
  TextLines lines(bytes, path, kDumpFile);
  bool has_atoms = true;  // of the last frame: the next TIMESTEP, UNITS or TIME begins another
  std::string_view line;
  while (lines.next(line)) {
    const std::optional<std::string_view> item = item_in(line);
    if (!item) continue;
    if (begins_frame(*item) && has_atoms) {
      // Lines before the first frame belong to it, so that they are refused when it is read.
      const auto first = frames.empty() ? 0 : std::size_t(line.data() - bytes.data());
      if (!frames.empty()) frames.back().last = first;
      frames.push_back({first, bytes.size(), first == 0 ? 1 : lines.number(), ""});
      has_atoms = false;
    }
    if (*item == "TIMESTEP" && !frames.empty() && lines.next(line)) frames.back().timestep = trimmed(line);
    has_atoms = has_atoms || is_item(*item, "ATOMS");
  }
  return frames;
}

ParticleTable decode_dump(std::string_view frame, const std::string& path, const TextOptions& options,
                          long first_line) {
  return DumpReader(frame, path, options, first_line).read();
}

}  // namespace nbcc
