// Decodes LAMMPS data files. Entry points: decode_lammps(), looks_like_lammps(). Opens no files. Reads the sections
// Atoms, Velocities, Masses and Atom Type Labels; ignores bonds and coefficients.
#include "particles/files/text/lammps_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "particles/file_error.h"

namespace nbcc {
namespace {

constexpr const char* kDataFile = "a LAMMPS data file";

struct Row {
  long line;
  std::string_view text;
};

struct Section {
  std::string name, comment;  // "Atoms", "full"
  long line = 0;
  std::vector<Row> rows;
};

// The columns of a row of Atoms, by atom style. `density` is the density of a grain's material, not of a fluid.
const char* columns_of_style(std::string_view style) {
  constexpr std::pair<std::string_view, const char*> styles[] = {
      {"atomic", "id,type,x[3]"},          {"angle", "id,mol,type,x[3]"},
      {"bond", "id,mol,type,x[3]"},        {"molecular", "id,mol,type,x[3]"},
      {"charge", "id,type,q,x[3]"},        {"dipole", "id,type,q,x[3],mu[3]"},
      {"dpd", "id,type,theta,x[3]"},       {"ellipsoid", "id,type,ellipsoid,density,x[3]"},
      {"full", "id,mol,type,q,x[3]"},      {"mdpd", "id,type,rho,x[3]"},
      {"sph", "id,type,rho,esph,cv,x[3]"}, {"sphere", "id,type,diameter,density,x[3]"}};
  for (const auto& [name, columns] : styles)
    if (name == style) return columns;
  return nullptr;
}

std::string_view before_comment(std::string_view line) { return trimmed(line.substr(0, line.find('#'))); }

std::string_view comment_of(std::string_view line) {
  const std::size_t hash = line.find('#');
  return hash == std::string_view::npos ? "" : trimmed(line.substr(hash + 1));
}

// Joins words by single blanks.
std::string joined(const std::vector<Word>& words, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t k = first; k < last; ++k) text += (k > first ? " " : "") + std::string(words[k].text);
  return text;
}

class LammpsReader {
 public:
  LammpsReader(std::string_view bytes, const std::string& path, const TextOptions& options)
      : path_(path), options_(options), lines_(bytes, path, kDataFile) {
    if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) throw FileError(path, "the file is empty");
  }

  ParticleTable read() {
    take_apart();
    if (count_ < 0) throw FileError(path_, "its header does not say how many atoms there are, as '1000 atoms'");
    doubt_missing_sides();
    read_labels();
    const Section* const atoms = section("Atoms");
    if (!atoms && count_ > 0) throw FileError(path_, fmt::format("there is no section Atoms, but {} atoms", count_));
    const Section none{"Atoms", "atomic", 0, {}};
    read_atoms(atoms ? *atoms : none);
    if (const Section* const velocities = section("Velocities")) add_velocities(*velocities);
    if (const Section* const masses = section("Masses")) add_masses(*masses);
    table_.of_other_format = true;
    return std::move(table_);
  }

 private:
  // Splits the file into header and sections. The first line is always a comment. After it, a line without numbers
  // begins a section; lines with numbers are rows of the section, or of the header before the first section.
  void take_apart() {
    std::string_view line;
    lines_.next(line);
    while (lines_.next(line)) {
      const std::string_view content = before_comment(line);
      if (content.empty()) continue;
      const std::vector<Word> words = words_in(content);
      if (std::ranges::none_of(words, [](const Word& word) { return is_number(word.text); }))
        begin_section(joined(words, 0, words.size()), line);
      else if (sections_.empty())
        read_header_line(words);
      else
        sections_.back().rows.push_back({lines_.number(), line.substr(0, line.find('#'))});
    }
    if (!lines_.has_line_end() && !before_comment(line).empty())
      throw FileError(path_, lines_.number(), 1, cut_off_note(line) + "; add a line end if it is not");
  }

  void begin_section(std::string name, std::string_view line) {
    for (const std::string_view ours : {"Atoms", "Velocities", "Masses", "Atom Type Labels"})
      if (name == ours && section(ours))
        throw FileError(path_, lines_.number(), 1, fmt::format("a second section {} begins here", ours));
    sections_.push_back({std::move(name), std::string(comment_of(line)), lines_.number(), {}});
  }

  const Section* section(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    return found == sections_.end() ? nullptr : &*found;
  }

  // "1000 atoms", "0 10 xlo xhi", "1 0 0 xy xz yz", "10 0 0 avec"
  void read_header_line(const std::vector<Word>& words) {
    std::size_t numbers = 0;
    while (numbers < words.size() && is_number(words[numbers].text)) ++numbers;
    const std::string key = joined(words, numbers, words.size());
    if (key.empty())
      throw FileError(path_, lines_.number(), words[0].column, "these numbers have no key and belong to no section");
    if (key == "atoms") {
      if (numbers != 1 || read_number(words[0].text, count_) != std::errc() || count_ < 0)
        throw FileError(path_, lines_.number(), words[0].column,
                        fmt::format("'{}' is not a number of atoms", joined(words, 0, numbers)));
      return;
    }
    constexpr std::pair<std::string_view, std::size_t> box[] = {{"xlo xhi", 2},  {"ylo yhi", 2},   {"zlo zhi", 2},
                                                                {"xy xz yz", 3}, {"avec", 3},      {"bvec", 3},
                                                                {"cvec", 3},     {"abc origin", 3}};
    for (const auto& [name, count] : box) {
      if (key != name) continue;
      if (numbers != count)
        throw FileError(path_, lines_.number(), words[0].column,
                        fmt::format("{} has {}, not {}", name, counted(std::int64_t(numbers), "number"), count));
      table_.attributes.emplace_back(key, joined(words, 0, numbers));
    }
  }

  // LAMMPS writes all sides of a box that is parallel to the axes, or none.
  void doubt_missing_sides() {
    constexpr const char* keys[] = {"xlo xhi", "ylo yhi", "zlo zhi"};
    const auto is_stated = [&](const char* key) { return table_.find_attribute(key) != nullptr; };
    for (const char* key : keys)
      if (!is_stated(key) && std::ranges::any_of(keys, is_stated))
        table_.warnings.push_back(
            fmt::format("its header has other sides of the box, but not {}: no box is known", key));
  }

  // Fills labels_[type]; types begin at 1, so labels_[0] stays empty.
  void read_labels() {
    const Section* const labels = section("Atom Type Labels");
    if (!labels) return;
    for (const Row& row : labels->rows) {
      const std::vector<Word> words = words_in(row.text);
      std::int32_t type = 0;
      if (words.size() != 2 || read_number(words[0].text, type) != std::errc() || type < 1 ||
          std::size_t(type) > labels->rows.size())
        throw FileError(path_, row.line, words[0].column,
                        fmt::format("'{}' is not a type from 1 to {} and its label", shown(trimmed(row.text)),
                                    labels->rows.size()));
      labels_.resize(std::max(labels_.size(), std::size_t(type) + 1));
      if (!labels_[std::size_t(type)].empty())
        throw FileError(path_, row.line, words[0].column, fmt::format("a second label of type {}", type));
      if (std::ranges::find(labels_, words[1].text) != labels_.end())
        throw FileError(path_, row.line, words[1].column,
                        fmt::format("a second type with the label '{}'", shown(words[1].text)));
      labels_[std::size_t(type)] = words[1].text;
    }
  }

  std::vector<ColumnName> columns_of(const Section& atoms) const {
    if (!options_.columns.empty()) return options_.columns;
    const std::string style = atoms.comment.substr(0, atoms.comment.find_first_of(" \t"));
    const char* const columns = columns_of_style(style);
    if (columns) return parse_columns(columns);
    const std::string said = style.empty()
                                 ? "does not say its style in a comment, as 'Atoms # full'"
                                 : fmt::format("is of style '{}', whose columns nbcc does not know", shown(style));
    throw FileError(path_, atoms.line, 1,
                    fmt::format("the section Atoms {}: name its columns by --columns, as id,mol,type,q,x[3]", said));
  }

  void read_atoms(const Section& atoms) {
    std::vector<RowColumn> columns;
    for (ColumnName column : columns_of(atoms)) {
      const bool labelled = column.name == "type" && !labels_.empty();
      if (!column.type && column.name == "type") column.type = ElementType::Int32;
      if (!column.type && column.name == "mol") column.type = ElementType::Int64;
      columns.push_back({std::move(column), "", labelled ? WordColumnKind::Automatic : WordColumnKind::Number});
    }
    const auto style_words = std::int64_t(words_of(columns));
    const auto first = atoms.rows.empty() ? style_words : std::int64_t(words_in(atoms.rows[0].text).size());
    const bool has_images = options_.columns.empty() && first == style_words + 3;
    if (has_images) columns.emplace_back().column = parse_columns("image:int32[3]").front();
    TextOptions options = options_;
    if (!labels_.empty()) {
      options.types = labels_;
      options.choice = {};  // the masses need the types
    }
    TextRows rows(path_, columns, options, "the section Atom Type Labels");
    for (const Row& row : atoms.rows) {
      const std::vector<Word> words = words_in(row.text);
      const auto count = std::int64_t(words.size());
      if (count != rows.words_wanted()) {
        const std::string source =
            options_.columns.empty() ? fmt::format("style {} has", atoms.comment) : "--columns names";
        const bool mixed = options_.columns.empty() && count == (has_images ? style_words : style_words + 3);
        throw FileError(path_, row.line, words[std::size_t(std::min(count - 1, rows.words_wanted()))].column,
                        mixed ? fmt::format("this row has {} image flags after its {} values, but the first "
                                            "row has {}",
                                            has_images ? "no" : "three", style_words, has_images ? "some" : "none")
                              : fmt::format("this row has {}, but {} {}{}", counted(count, "value"), source,
                                            style_words, has_images ? ", here with three image flags" : ""));
      }
      rows.append(row.line, words);
    }
    if (std::int64_t(atoms.rows.size()) != count_)
      throw FileError(path_, fmt::format("the section Atoms has {}, but the header says {}",
                                         counted(std::int64_t(atoms.rows.size()), "row"), counted(count_, "atom")));
    rows.finish(table_);
    find_rows_of_ids(atoms);
  }

  static int words_of(const std::vector<RowColumn>& columns) {
    int words = 0;
    for (const RowColumn& each : columns) words += each.column.components;
    return words;
  }

  const std::vector<std::int64_t>* whole_column(std::string_view name) const {
    const ParticleColumn* const column = table_.find(name);
    return column && column->components == 1 ? std::get_if<std::vector<std::int64_t>>(&column->data) : nullptr;
  }

  void find_rows_of_ids(const Section& atoms) {
    const std::vector<std::int64_t>* const ids = whole_column("id");
    if (!ids) return;
    for (std::size_t row = 0; row < ids->size(); ++row)
      if (!row_of_id_.emplace((*ids)[row], row).second)
        throw FileError(path_, atoms.rows[row].line, 1, fmt::format("a second atom has the id {}", (*ids)[row]));
  }

  // The section has a row "id vx vy vz ..." for each atom.
  void add_velocities(const Section& section) {
    if (!whole_column("id") || table_.find("v")) return;
    std::vector<double> v(3 * std::size_t(table_.rows));
    std::vector<bool> seen(std::size_t(table_.rows));
    for (const Row& row : section.rows) {
      const std::vector<Word> words = words_in(row.text);
      std::int64_t id = 0;
      if (words.size() < 4)
        throw FileError(path_, row.line, words[0].column,
                        fmt::format("this row has {}, but an id and a velocity are 4",
                                    counted(std::int64_t(words.size()), "value")));
      read(row, words[0], id);
      const auto found = row_of_id_.find(id);
      if (found == row_of_id_.end() || seen[found->second])
        throw FileError(path_, row.line, words[0].column,
                        found == row_of_id_.end() ? fmt::format("there is no atom with the id {}", id)
                                                  : fmt::format("a second velocity of the atom with the id {}", id));
      seen[found->second] = true;
      for (std::size_t c = 0; c < 3; ++c) read(row, words[c + 1], v[3 * found->second + c]);
    }
    const auto missing = std::ranges::find(seen, false);
    if (missing != seen.end())
      throw FileError(path_, section.line, 1,
                      fmt::format("the section Velocities has none of the atom with the id {}",
                                  (*whole_column("id"))[std::size_t(missing - seen.begin())]));
    table_.columns.push_back({"v", 3, std::move(v)});
  }

  // A row holds a type or its label, and a mass.
  void add_masses(const Section& section) {
    const ParticleColumn* const types = table_.find("type");
    if (!types || types->type() != ElementType::Int32 || types->components != 1 || table_.find("m")) return;
    std::map<std::int32_t, double> mass_of;
    for (const Row& row : section.rows) {
      const std::vector<Word> words = words_in(row.text);
      if (words.size() != 2)
        throw FileError(path_, row.line, words[0].column,
                        fmt::format("this row has {}, but a type and its mass are 2",
                                    counted(std::int64_t(words.size()), "value")));
      const auto label = std::ranges::find(labels_, words[0].text);
      auto type = static_cast<std::int32_t>(label - labels_.begin());
      if (label == labels_.end()) read(row, words[0], type);
      if (mass_of.contains(type))
        throw FileError(path_, row.line, words[0].column, fmt::format("a second mass of type {}", type));
      read(row, words[1], mass_of[type]);
    }
    std::vector<double> m;
    for (const std::int32_t type : std::get<std::vector<std::int32_t>>(types->data)) {
      const auto found = mass_of.find(type);
      if (found == mass_of.end())
        throw FileError(path_, section.line, 1, fmt::format("the section Masses has none of type {}", type));
      m.push_back(found->second);
    }
    table_.columns.push_back({"m", 1, std::move(m), "mass"});
  }

  template <class Number>
  void read(const Row& row, const Word& word, Number& value) const {
    if (const std::errc error = read_number(word.text, value); error != std::errc())
      throw FileError(
          path_, row.line, word.column,
          fmt::format("'{}' is not a {}number{}", shown(word.text), std::is_integral_v<Number> ? "whole " : "",
                      error == std::errc::result_out_of_range ? " in range" : ""));
  }

  const std::string& path_;
  const TextOptions& options_;
  TextLines lines_;
  std::int64_t count_ = -1;
  std::vector<Section> sections_;
  std::vector<std::string> labels_;  // [type], from 1 on
  std::unordered_map<std::int64_t, std::size_t> row_of_id_;
  ParticleTable table_;
};

}  // namespace

ParticleTable decode_lammps(std::string_view bytes, const std::string& path, const TextOptions& options) {
  return LammpsReader(bytes, path, options).read();
}

bool looks_like_lammps(std::string_view bytes) {
  if (bytes.find('\0') != std::string_view::npos) return false;
  TextLines lines(bytes, "", kDataFile);
  std::string_view line;
  lines.next(line);
  for (int k = 0; k < 100 && lines.next(line); ++k) {
    const std::vector<Word> words = words_in(before_comment(line));
    if (words.size() == 2 && words[1].text == "atoms" && is_number(words[0].text)) return true;
  }
  return false;
}

}  // namespace nbcc
