// Turns a zip archive of arrays into a table and back; its doors are decode_npz and encode_npz. The arrays
// themselves are particles/npy.cpp's; opens no files.
#include "particles/npz.h"

#include <fmt/core.h>
#include <zip.h>

#include <algorithm>
#include <memory>

#include "particles/file_error.h"
#include "particles/npy.h"
#include "particles/numbers.h"

namespace nbcc {
namespace {

constexpr std::string_view kProvenance = "provenance";
// A deflated byte stands for 1032 bytes at most: a member that claims more is not worth an allocation.
constexpr std::uint64_t kLargestRatio = 1032;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, Discard>;

std::string error_text(zip_error_t* error) {
  std::string text = zip_error_strerror(error);
  zip_error_fini(error);
  return text;
}

Archive open_archive(std::string_view bytes, const std::string& path) {
  if (bytes.empty()) throw FileError(path, "the file is empty");  // to libzip that is an archive of nothing
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* archive = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
  if (!archive) {
    if (source) zip_source_free(source);
    throw FileError(path, fmt::format("it is not an .npz archive: {}", error_text(&error)));
  }
  zip_error_fini(&error);
  return Archive(archive);
}

// A header that tells of more fields than that is of no column of ours.
constexpr zip_uint64_t kHeaderReach = 1 << 16;

zip_stat_t credible_size(zip_t* archive, std::size_t archive_size, zip_uint64_t index, const std::string& path) {
  zip_stat_t status;
  if (zip_stat_index(archive, index, 0, &status) != 0)
    throw FileError(path, fmt::format("it cannot be read: {}", zip_strerror(archive)));
  constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if ((status.valid & needed) != needed || status.comp_size > archive_size ||
      status.size / kLargestRatio > status.comp_size + 1)
    throw FileError(path, "its size in the archive's directory cannot be true");
  return status;
}

using MemberFile = std::unique_ptr<zip_file_t, int (*)(zip_file_t*)>;

MemberFile open_member(zip_t* archive, zip_uint64_t index, const std::string& path) {
  MemberFile file(zip_fopen_index(archive, index, 0), zip_fclose);
  if (!file) throw FileError(path, fmt::format("it cannot be unpacked: {}", zip_strerror(archive)));
  return file;
}

// As many bytes as there is room for, or fewer at the end.
std::size_t unpack(zip_file_t* file, char* to, std::size_t room, const std::string& path) {
  std::size_t filled = 0;
  while (filled < room) {
    const zip_int64_t count = zip_fread(file, to + filled, room - filled);
    if (count < 0) throw FileError(path, fmt::format("it cannot be unpacked: {}", zip_file_strerror(file)));
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

std::string read_member(zip_t* archive, std::size_t archive_size, zip_uint64_t index, const std::string& path) {
  const zip_stat_t status = credible_size(archive, archive_size, index, path);
  const MemberFile file = open_member(archive, index, path);
  std::string bytes(status.size, '\0');
  if (unpack(file.get(), bytes.data(), bytes.size(), path) < bytes.size())
    throw FileError(path, "it is truncated within the archive");
  // One more read than needed: libzip compares the checksum when it meets the end.
  char beyond;
  if (unpack(file.get(), &beyond, 1, path) > 0) throw FileError(path, "it is longer than the archive's directory says");
  return bytes;
}

// The lines that encode_npz wrote.
void take_provenance(std::string_view text, ParticleTable& table) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos)
      table.attributes.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    else if (!line.empty())
      table.attributes.emplace_back(kProvenance, line);
  }
}

// As much of a member as its header may take.
std::string read_header(zip_t* archive, zip_uint64_t index, const std::string& path) {
  std::string begin(kHeaderReach, '\0');
  const MemberFile file = open_member(archive, index, path);
  begin.resize(unpack(file.get(), begin.data(), begin.size(), path));
  return begin;
}

// The arrays' members: index and name.
std::vector<std::pair<zip_uint64_t, std::string>> members_of(zip_t* archive, const std::string& path) {
  std::vector<std::pair<zip_uint64_t, std::string>> members;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t k = 0; k < count; ++k) {
    const auto index = static_cast<zip_uint64_t>(k);
    const char* name = zip_get_name(archive, index, 0);
    if (!name) throw FileError(path, fmt::format("member {} cannot be read: {}", k, zip_strerror(archive)));
    const std::string_view member = name;
    if (member.ends_with(".npy")) members.emplace_back(index, member.substr(0, member.size() - 4));
  }
  return members;
}

void add_member(zip_t* archive, const std::string& member, const std::string& bytes) {
  zip_error_t error;
  zip_error_init(&error);
  // The bytes stay the caller's until the archive is closed.
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (!source) throw std::runtime_error(error_text(&error));
  const zip_int64_t index = zip_file_add(archive, member.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    throw std::runtime_error(zip_strerror(archive));
  }
  constexpr zip_uint16_t first_of_january_1980 = 1 << 5 | 1;
  if (zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, static_cast<zip_uint64_t>(index), 0, first_of_january_1980, 0) != 0)
    throw std::runtime_error(zip_strerror(archive));
}

std::string bytes_of(zip_source_t* source) {
  zip_stat_t status;
  std::string bytes;
  if (zip_source_stat(source, &status) != 0 || !(status.valid & ZIP_STAT_SIZE) || zip_source_open(source) != 0)
    throw std::runtime_error(error_text(zip_source_error(source)));
  bytes.resize(status.size);
  const zip_int64_t count = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (count != static_cast<zip_int64_t>(bytes.size())) throw std::runtime_error("the archive came out short");
  return bytes;
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

struct FreeSource {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};

}  // namespace

ParticleTable decode_npz(std::string_view bytes, const std::string& path, const ColumnChoice& choice) {
  const Archive archive = open_archive(bytes, path);
  ParticleTable notes;
  std::vector<FileColumn> columns;
  int arrays = 0;
  for (const auto& [index, name] : members_of(archive.get(), path)) {
    const std::string label = fmt::format("{} (member {}.npy)", path, name);
    const auto unpack = [&archive, &bytes, index = index, label](std::string& room) {
      return std::string_view(room = read_member(archive.get(), bytes.size(), index, label));
    };
    std::string room;
    if (name == kProvenance) {
      take_provenance(decode_npy_note(unpack(room), label), notes);
      continue;
    }
    ++arrays;
    try {
      const std::string begin = read_header(archive.get(), index, label);
      std::string_view rest = begin;
      const NpyHeader header = take_npy_header(rest, label);
      if (!is_note(header)) {
        for (FileColumn& column : columns_of_npy(header, name, label, unpack)) columns.push_back(std::move(column));
      } else if (choice.takes(name)) {
        notes.attributes.emplace_back(name, decode_npy_note(unpack(room), label));
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

std::string encode_npz(const ParticleTable& table, const std::string& path) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const ParticleColumn& column : table.columns) {
    if (column.name == kProvenance && !table.attributes.empty())
      throw FileError(path, "a column cannot be called 'provenance' in .npz: that is where the file's origin stands");
    members.emplace_back(column.name + ".npy", encode_npy(column, table.unnamed));
  }
  if (!table.attributes.empty())
    members.emplace_back(std::string(kProvenance) + ".npy", encode_npy_string(provenance_text(table)));

  zip_error_t error;
  zip_error_init(&error);
  const std::unique_ptr<zip_source_t, FreeSource> target(zip_source_buffer_create(nullptr, 0, 0, &error));
  try {
    if (!target) throw std::runtime_error(error_text(&error));
    Archive archive(zip_open_from_source(target.get(), ZIP_CREATE | ZIP_TRUNCATE, &error));
    if (!archive) throw std::runtime_error(error_text(&error));
    zip_source_keep(target.get());  // the archive owns one reference, `target` the other
    for (const auto& [name, bytes] : members) add_member(archive.get(), name, bytes);
    if (zip_close(archive.get()) != 0) throw std::runtime_error(zip_strerror(archive.get()));
    archive.release();  // NOLINT(bugprone-unused-return-value): zip_close() has freed it
    return bytes_of(target.get());
  } catch (const std::runtime_error& failure) {
    throw FileError(path, fmt::format("the .npz archive cannot be made: {}", failure.what()));
  }
}

}  // namespace nbcc
