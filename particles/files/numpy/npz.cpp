// Decodes and encodes zip archives of .npy arrays. Entry points: decode_npz(), encode_npz(), update_npz(). npy.cpp
// decodes the arrays. Opens no files.
#include "particles/files/numpy/npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "particles/file_error.h"
#include "particles/files/numpy/npy.h"
#include "particles/files/numpy/zip_archive.h"
#include "particles/numbers.h"
#include "particles/run_record.h"

namespace nbcc {
namespace {

constexpr std::string_view kProvenance = "provenance";
// Bytes of a member that are unpacked for its header; a longer header is not read.
constexpr std::size_t kMaxHeaderBytes = 1 << 16;

// Adds the lines of "provenance" to the table's attributes.
void take_provenance(std::string_view text, ParticleTable& table) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos)
      table.attributes.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    else if (!line.empty())
      table.attributes.emplace_back(kProvenance, line);
  }
}

// The members of the archive that are arrays: the array's name and the member.
std::vector<std::pair<std::string, ZipMember>> members_of(std::string_view bytes, const std::string& path) try {
  if (bytes.empty()) throw FileError(path, "the file is empty");
  std::vector<std::pair<std::string, ZipMember>> members;
  for (ZipMember& member : zip_directory(bytes)) {
    if (member.name.ends_with(".npy"))
      members.emplace_back(member.name.substr(0, member.name.size() - 4), std::move(member));
  }
  return members;
} catch (const ZipError& problem) {
  throw FileError(path, fmt::format("it is not an .npz archive: {}", problem.what()));
}

std::string read_member(std::string_view archive, const ZipMember& member, const std::string& path) try {
  return unpack_zip_member(archive, member);
} catch (const ZipError& problem) {
  throw FileError(path, problem.what());
}

// Unpacks the beginning of a member, which contains the header.
std::string read_header(std::string_view archive, const ZipMember& member, const std::string& path) try {
  return unpack_zip_begin(archive, member, kMaxHeaderBytes);
} catch (const ZipError& problem) {
  throw FileError(path, problem.what());
}

[[noreturn]] void refuse_provenance(const std::string& path) {
  throw FileError(path, "a column cannot be called 'provenance' in .npz: that array holds the file's attributes");
}

// True if the array is a single string, as encode_npz writes it.
bool is_provenance(std::string_view array, const std::string& path) {
  const NpyHeader header = take_npy_header(array, path);
  return is_note(header) && header.shape.empty() && header.fields[0].kind == 'U';
}

std::string provenance_text(const ParticleTable& table) {
  std::string text;
  for (const auto& [key, value] : table.attributes) {
    std::string line = value;
    std::ranges::replace(line, '\n', ' ');
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", key, line);
  }
  return text;
}

}  // namespace

ParticleTable decode_npz(std::string_view bytes, const std::string& path, const ColumnChoice& choice) {
  ParticleTable notes;
  std::vector<FileColumn> columns;
  int arrays = 0;
  for (const auto& [name, member] : members_of(bytes, path)) {
    const std::string label = fmt::format("{} (member {}.npy)", path, name);
    const auto unpack = [bytes, member = member, label](std::string& buffer) {
      return std::string_view(buffer = read_member(bytes, member, label));
    };
    std::string buffer;
    if (name == kProvenance && is_provenance(unpack(buffer), label)) {
      take_provenance(decode_npy_note(buffer, label), notes);
      continue;
    }
    ++arrays;
    try {
      const std::string begin = read_header(bytes, member, label);
      std::string_view rest = begin;
      const NpyHeader header = take_npy_header(rest, label);
      if (!is_note(header)) {
        for (FileColumn& column : columns_of_npy(header, name, label, unpack)) columns.push_back(std::move(column));
      } else if (choice.takes(name)) {
        notes.attributes.emplace_back(name, decode_npy_note(unpack(buffer), label));
      }
    } catch (const FileError&) {
      if (choice.takes(name)) throw;
    }
  }
  const bool unnamed = arrays == 1 && columns.size() == 1 && (columns[0].name == "arr_0" || columns[0].name == "data");
  ParticleTable table = read_columns(columns, choice, unnamed);
  table.attributes = std::move(notes.attributes);
  return table;
}

namespace {

// The names of a structured array's fields; empty if the header cannot be read.
std::vector<std::string> fields_of(std::string_view bytes, const ZipMember& member, const std::string& name,
                                   const std::string& path) {
  std::vector<std::string> fields;
  try {
    const std::string label = path + ":" + name, begin = read_header(bytes, member, label);
    std::string_view rest = begin;
    const NpyHeader header = take_npy_header(rest, label);
    for (const FileColumn& column : columns_of_npy(header, name, label, {})) fields.push_back(column.name);
  } catch (const FileError&) {
  }
  return fields;
}

}  // namespace

std::string update_npz(std::string_view bytes, const std::string& path, const ParticleTable& table) {
  ZipContents changed;
  for (const ParticleColumn& column : table.columns) {
    if (column.name == kProvenance) refuse_provenance(path);
    changed.emplace_back(column.name + ".npy", encode_npy(column));
  }
  std::string record;
  bool is_ours = true;
  std::set<std::string> names;
  for (const auto& [name, member] : members_of(bytes, path)) {
    const bool is_written = table.find(name) || name == kProvenance;
    if (!names.emplace(name).second && is_written)
      throw FileError(path, fmt::format("two arrays are called '{}', and one would be lost", name));
    for (const std::string& field : fields_of(bytes, member, name, path))
      if (field != name && table.find(field))
        throw FileError(
            path, fmt::format("its array '{}' has a field '{}', which is also the name of an output", name, field));
    if (name != kProvenance) continue;
    const std::string array = read_member(bytes, member, path);
    is_ours = is_provenance(array, path);
    if (is_ours) record = decode_npy_note(array, path);
    is_ours = is_ours && record.starts_with("made by: nbcc ");
  }
  const std::string text = provenance_text(table);
  const LineRange old = lines_of_record(split(record, '\n'), table);
  std::vector<std::string_view> lines = split(record, '\n');
  lines.erase(lines.begin() + std::ptrdiff_t(old.first), lines.begin() + std::ptrdiff_t(old.last));
  const std::vector<std::string_view> ours = split(text, '\n');
  lines.insert(lines.begin() + std::ptrdiff_t(old.first), ours.begin(), ours.end());
  if (is_ours)
    changed.emplace_back(fmt::format("{}.npy", kProvenance),
                         encode_npy_string(fmt::format("{}", fmt::join(lines, "\n"))));
  try {
    return update_zip(bytes, changed);
  } catch (const ZipError& problem) {
    throw FileError(path, problem.what());
  }
}

std::string encode_npz(const ParticleTable& table, const std::string& path) {
  ZipContents members;
  for (const ParticleColumn& column : table.columns) {
    if (column.name == kProvenance && !table.attributes.empty()) refuse_provenance(path);
    members.emplace_back(column.name + ".npy", encode_npy(column, table.unnamed));
  }
  if (!table.attributes.empty())
    members.emplace_back(std::string(kProvenance) + ".npy", encode_npy_string(provenance_text(table)));
  return make_zip(members);
}

}  // namespace nbcc
