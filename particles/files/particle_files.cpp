// Reads and writes particle files. Entry points: ParticleFile, write_particles(), ParticleUpdate. Chooses the
// format and handles --columns, overwriting and the standard streams; each format is implemented in its own file.
#include "particles/files/particle_files.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>

#include "compiler/text/read_file.h"
#include "particles/column_names.h"
#include "particles/files/hdf5/hdf5_file.h"
#include "particles/files/hdf5/hdf5_sources.h"
#include "particles/files/hdf5/hdf5_update.h"
#include "particles/files/numpy/npy.h"
#include "particles/files/numpy/npz.h"
#include "particles/files/read_input.h"
#include "particles/files/replace_file.h"
#include "particles/files/seeming_format.h"
#include "particles/files/text/lammps_dump.h"
#include "particles/files/text/lammps_file.h"
#include "particles/files/text/text_table.h"
#include "particles/files/text/text_update.h"
#include "particles/files/text/xyz_file.h"

namespace nbcc {

namespace {

constexpr const char* kParticleFile = "a particle file";

// The format with this name or file name ending.
std::optional<Format> format_by_name(std::string_view name) {
  constexpr std::pair<std::string_view, Format> formats[] = {
      {"npy", Format::Npy},   {"npz", Format::Npz},  {"h5", Format::Hdf5}, {"hdf5", Format::Hdf5},
      {"text", Format::Text}, {"txt", Format::Text}, {"csv", Format::Csv}, {"tsv", Format::Tsv}};
  for (const auto& [known, format] : formats)
    if (name == known) return format;
  return {};
}

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

Format format_by_ending(const std::string& path) {
  const std::string ending = ending_of(path);
  if (ending == ".xyz" || ending == ".extxyz") return Format::Xyz;
  if (ending == ".lmp" || ending == ".lammps") return Format::Lammps;
  if (ending == ".lammpstrj" || ending == ".dump" || ending == ".lammpsdump") return Format::Dump;
  return format_by_name(ending.empty() ? ending : ending.substr(1)).value_or(Format::Text);
}

Format format_by_bytes(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\x93NUMPY"sv)) return Format::Npy;
  if (bytes.starts_with("PK\x03\x04"sv) || bytes.starts_with("PK\x05\x06"sv)) return Format::Npz;
  return bytes.starts_with("\x89HDF\r\n\x1a\n"sv) ? Format::Hdf5 : Format::Text;
}

bool is_text_table(Format format) { return format == Format::Text || format == Format::Csv || format == Format::Tsv; }

std::string display_name(const std::string& path, const char* stream) { return path == "-" ? stream : path; }

Format output_format(const std::string& path, const WriteOptions& options) {
  if (options.format.empty()) {
    const Format format = path == "-" ? Format::Text : format_by_ending(path);
    if (format == Format::Xyz || format == Format::Lammps || format == Format::Dump)
      throw FileError(path,
                      fmt::format("files of the ending {} are read, but not written: say -o FILE.npz, .h5 or .txt",
                                  ending_of(path)));
    return format;
  }
  if (const auto format = format_by_name(options.format)) return *format;
  throw FileError(display_name(path, "standard output"),
                  fmt::format("'{}' is not a format; there are npy, npz, h5, text, csv and tsv", options.format));
}

ParticleColumn retyped(ParticleColumn column, ElementType type, const std::string& path) {
  if (column.type() == type) return column;
  try {
    return convert(column, type);
  } catch (const std::range_error& fault) {
    throw FileError(path, fault.what());
  }
}

// Splits a plain (N, K) array into named columns.
ParticleTable split_columns(const ParticleTable& table, const std::vector<ColumnName>& names, const std::string& path) {
  const ParticleColumn& whole = table.columns[0];
  if (words_per_row(names) != whole.components)
    throw FileError(
        path, fmt::format("its rows have {} numbers, but --columns names {}", whole.components, words_per_row(names)));
  ParticleTable result;
  result.rows = table.rows;
  result.attributes = table.attributes;
  int first = 0;
  for (const ColumnName& name : names) {
    if (!name.name.empty()) {
      ParticleColumn part{name.name, name.components,
                          make_data(whole.type(), static_cast<std::size_t>(table.rows * name.components))};
      std::visit(
          [&](auto& to) {
            const auto& from = std::get<std::decay_t<decltype(to)>>(whole.data);
            for (std::int64_t row = 0; row < table.rows; ++row)
              std::copy_n(from.begin() + row * whole.components + first, name.components,
                          to.begin() + row * name.components);
          },
          part.data);
      result.columns.push_back(retyped(std::move(part), name.type_or(whole.type()), path));
    }
    first += name.components;
  }
  return result;
}

ParticleTable pick_columns(ParticleTable table, const std::vector<ColumnName>& names, const std::string& path) {
  ParticleTable result;
  result.attributes = std::move(table.attributes);
  for (const ColumnName& name : names) {
    if (name.name.empty()) continue;
    const ParticleColumn* const found = table.find(name.name);
    if (!found)
      throw FileError(path, fmt::format("there is no column '{}' in it{}", name.name, table.absence(name.name)));
    ParticleColumn* const column = &table.columns[std::size_t(found - table.columns.data())];
    if (column->components != name.components)
      throw FileError(path, fmt::format("column '{}' has {} numbers per row, but --columns says {}", name.name,
                                        column->components, name.components));
    const ElementType type = name.type.value_or(column->type());
    result.columns.push_back(retyped(std::move(*column), type, path));
    result.columns.back().name = name.name;
    result.columns.back().name_in_file.clear();
  }
  if (!result.columns.empty()) result.rows = result.columns[0].rows();
  return result;
}

// Splits "snapshot.h5:PartType1" into file and group, unless a file with that full name exists.
void take_group(std::string& path, std::string& group) {
  if (!group.empty() || access(path.c_str(), F_OK) == 0) return;
  for (const std::string_view ending : {".h5:", ".hdf5:"})
    if (const std::size_t at = path.find(ending); at != std::string::npos) {
      group = path.substr(at + ending.size());
      path.resize(at + ending.size() - 1);
      return;
    }
}

ParticleTable with_columns(ParticleTable table, const std::vector<ColumnName>& names, const std::string& path) {
  if (names.empty()) return table;
  return table.unnamed ? split_columns(table, names, path) : pick_columns(std::move(table), names, path);
}

// Arguments of the readers: options for text formats and for files of arrays.
struct Reading {
  std::string name, group;
  TextOptions text;
  ColumnChoice choice;
};

// What the first bytes of a file that is named like another format seem to be; "" if that is not known.
std::string seeming_format(std::string_view bytes, const Reading& how) {
  switch (format_by_bytes(bytes)) {
    case Format::Npy:
      return "it is an .npy array, but its name does not end in .npy";
    case Format::Npz:
      return "it is a zip archive, but its name does not end in .npz";
    case Format::Hdf5:
      return "it is an HDF5 file, but its name does not end in .h5 or .hdf5";
    default:
      return foreign_format(bytes, how.name);
  }
}

// The format of a file whose name says `format`, after a look at its bytes.
Format format_of(std::string_view bytes, Format format, const Reading& how) {
  if (format_by_bytes(bytes) == format && format != Format::Text) return format;
  if (const std::string fault = seeming_format(bytes, how); !fault.empty()) throw FileError(how.name, fault);
  if (format == Format::Npy || format == Format::Npz || format == Format::Hdf5 || how.text.skip_lines > 0)
    return format;
  if (looks_like_dump(bytes)) return Format::Dump;
  if (format == Format::Text && looks_like_lammps(bytes)) return Format::Lammps;
  if (is_text_table(format) && how.text.columns.empty() && looks_like_xyz(bytes))
    throw FileError(how.name, "it looks like an .xyz file, but its name ends in neither .xyz nor .extxyz");
  return format;
}

ParticleTable decode(std::string_view bytes, Format format, const Reading& how, long first_line) {
  const std::vector<ColumnName>& columns = how.text.columns;
  switch (format) {
    case Format::Npy:
      return with_columns(decode_npy(bytes, how.name, how.choice), columns, how.name);
    case Format::Npz:
      return with_columns(decode_npz(bytes, how.name, how.choice), columns, how.name);
    case Format::Hdf5:
      return with_columns(decode_hdf5(bytes, how.name, how.group, how.choice), columns, how.name);
    case Format::Xyz:
      return decode_xyz(bytes, how.name, how.text, first_line);
    case Format::Dump:
      return decode_dump(bytes, how.name, how.text, first_line);
    case Format::Lammps:
      return decode_lammps(bytes, how.name, how.text);
    default:
      return decode_text(bytes, how.name, how.text);
  }
}

std::string encode(const ParticleTable& table, Format format, const std::string& path) {
  switch (format) {
    case Format::Npy:
      if (table.columns.size() > 1)
        throw FileError(path,
                        fmt::format("an .npy file holds one array, but there are {} columns ({}); use .npz, .h5 or "
                                    "text",
                                    table.columns.size(), table.column_names()));
      return encode_npy(table.columns[0], table.unnamed);
    case Format::Npz:
      return encode_npz(table, path);
    case Format::Hdf5:
      return encode_hdf5(table, path);
    case Format::Csv:
      return encode_text(table, TextStyle::Csv);
    case Format::Tsv:
      return encode_text(table, TextStyle::Tsv);
    default:
      break;
  }
  return encode_text(table, TextStyle::Plain);
}

std::array<std::int64_t, 4> state_of(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return {};
  const timespec& written = status.st_mtim;
  return {std::int64_t(status.st_ino), std::int64_t(status.st_size), std::int64_t(written.tv_sec),
          std::int64_t(written.tv_nsec)};
}

// Calls `action`, and reports a lack of memory as an error of the file.
template <class Action>
auto with_memory(const std::string& name, Action action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    throw FileError(name, "there is not enough memory for it");
  } catch (const std::length_error&) {
    throw FileError(name, "there is not enough memory for it");
  }
}

}  // namespace

struct ParticleFile::State {
  Reading how;
  Format format{};
  std::string file, bytes;  // HDF5: only the path is kept
  std::vector<ParticleFrame> frames{};
};

ParticleFile::ParticleFile(const std::string& path, const ReadOptions& options) : state_(new State) {
  const std::vector<ColumnName> columns =
      options.columns.empty() ? std::vector<ColumnName>() : parse_columns(options.columns);
  State& file = *state_;
  Reading& how = file.how;
  how = {display_name(path, "standard input"),
         options.group,
         {columns, options.types, options.skip_lines, options.choice},
         columns.empty() ? options.choice : ColumnChoice(columns)};
  file.file = path;
  with_memory(how.name, [&] {
    if (path == "-") {
      file.bytes = read_input(path, kParticleFile);
    } else {
      take_group(file.file, how.group);
    }
    file.format = path == "-" ? format_by_bytes(file.bytes) : format_by_ending(file.file);
    if (how.text.skip_lines > 0 && !is_text_table(file.format))
      throw FileError(how.name, "--skip-lines is for text tables, and its format is another");
    if (path != "-") {
      how.name = file.file;
      // HDF5 opens the file by its path: a snapshot may be larger than memory, although only a few columns are read.
      if (file.format == Format::Hdf5)
        check_readable_in_place(file.file, kParticleFile);
      else
        file.bytes = read_input(file.file, kParticleFile);
    }
    const bool is_in_place = path != "-" && file.format == Format::Hdf5;
    file.format = format_of(is_in_place ? read_file(file.file, 1 << 16).bytes : file.bytes, file.format, how);
    if (file.format == Format::Xyz) file.frames = frames_of_xyz(file.bytes, how.name);
    if (file.format == Format::Dump) file.frames = frames_of_dump(file.bytes, how.name);
  });
}

ParticleFile::ParticleFile(ParticleFile&&) noexcept = default;
ParticleFile::~ParticleFile() = default;

const std::vector<ParticleFrame>& ParticleFile::frames() const { return state_->frames; }

ParticleTable ParticleFile::read(std::optional<std::size_t> frame) const {
  const State& file = *state_;
  const Reading& how = file.how;
  if (!frame && file.frames.size() > 1)
    throw FileError(how.name,
                    fmt::format("it holds {} frames, and one set of particles is needed", file.frames.size()));
  return with_memory(how.name, [&] {
    ParticleTable table;
    if (file.format == Format::Hdf5 && file.bytes.empty()) {
      table = with_columns(read_hdf5(file.file, how.group, how.choice), how.text.columns, how.name);
    } else if (file.frames.empty()) {
      table = decode(file.bytes, file.format, how, 1);
    } else {
      const ParticleFrame& part = file.frames.at(frame.value_or(0));
      const std::string_view bytes(file.bytes);
      table = decode(bytes.substr(part.first, part.last - part.first), file.format, how, part.first_line);
    }
    if (const std::string fault = table_fault(table); !fault.empty()) throw FileError(how.name, fault);
    return table;
  });
}

ParticleTable read_particles(const std::string& path, const ReadOptions& options) {
  return ParticleFile(path, options).read();
}

void check_writable(const std::string& path, const WriteOptions& options) {
  output_format(path, options);
  if (path != "-") check_replaceable(path, options.force);
}

NumberRows read_numbers(const std::string& path) {
  const ParticleTable table = read_particles(path);
  std::vector<ParticleColumn> columns;
  for (const ParticleColumn& column : table.columns) columns.push_back(convert(column, ElementType::Double));
  std::vector<double> numbers;
  for (std::int64_t row = 0; row < table.rows; ++row)
    for (const ParticleColumn& column : columns) {
      const double* const first = std::get<std::vector<double>>(column.data).data() + row * column.components;
      numbers.insert(numbers.end(), first, first + column.components);
    }
  std::vector<std::string> warnings;
  for (const std::string& warning : table.warnings) warnings.push_back(fmt::format("{}: {}", path, warning));
  return {std::move(numbers), table.rows, std::move(warnings)};
}

std::string particle_file_of(const std::string& path) {
  std::string file = path, group;
  take_group(file, group);
  return file;
}

std::optional<ParticleUpdate> ParticleUpdate::of(const std::string& from, const std::string& to,
                                                 const WriteOptions& options) {
  ParticleUpdate update;
  update.from_ = from;
  take_group(update.from_, update.group_);
  std::error_code unknown;  // errors are reported when the file is read or written
  if (from == "-" || !std::filesystem::is_regular_file(update.from_, unknown)) return std::nullopt;
  const Format format = output_format(to, options);
  if (format != format_by_ending(update.from_) || format == Format::Npy) return std::nullopt;
  const bool is_new = to != "-" && !std::filesystem::exists(to, unknown);
  if (format == Format::Hdf5 && !is_new && !std::filesystem::is_regular_file(to, unknown)) return std::nullopt;
  if (is_text_table(format)) {
    const std::string beginning = read_file(update.from_, 1 << 16).bytes;
    if (looks_like_dump(beginning) || looks_like_lammps(beginning)) return std::nullopt;
  }
  update.to_ = to;
  update.format_ = format;
  update.force_ = options.force;
  update.state_ = state_of(update.from_);
  return update;
}

void ParticleUpdate::check_unchanged() const {
  if (state_of(from_) != state_)
    throw FileError(from_, "it has changed since its particles were read; the results belong to the old particles");
}

std::string ParticleUpdate::updated(const ParticleTable& results) const {
  const std::string bytes = read_input(from_, kParticleFile);
  check_unchanged();
  if (format_ == Format::Npz) return update_npz(bytes, from_, results);
  return update_text(bytes, from_, results,
                     format_ == Format::Csv   ? TextStyle::Csv
                     : format_ == Format::Tsv ? TextStyle::Tsv
                                              : TextStyle::Plain);
}

void ParticleUpdate::check(const ParticleTable& results) const {
  if (format_ == Format::Hdf5) {
    check_copy_of_hdf5(from_, to_);
    return check_update_hdf5(from_, group_, results);
  }
  updated(results);
}

void ParticleUpdate::write(const ParticleTable& results) const {
  if (format_ == Format::Hdf5) {
    check_unchanged();
    check_copy_of_hdf5(from_, to_);
    return replace_file(
        to_, from_, [&](const std::string& draft) { update_hdf5(draft, to_, group_, results); }, force_);
  }
  const std::string bytes = updated(results);
  if (to_ == "-") return write_standard_output(bytes);
  replace_file(to_, bytes, force_);
}

void write_particles(const std::string& path, const ParticleTable& table, const WriteOptions& options) {
  const std::string name = display_name(path, "standard output");
  const Format format = output_format(path, options);
  if (const std::string fault = table_fault(table); !fault.empty()) throw FileError(name, fault);
  if (path != "-") {
    check_replaceable(path, options.force);
    return replace_file(path, encode(table, format, name), options.force);
  }
  write_standard_output(encode(table, format, name));
}

}  // namespace nbcc
