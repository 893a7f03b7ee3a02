// `nbcc run --update` on random .npz archives: members that are no outputs keep their bytes and what the archive's
// directory says of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <string>
#include <vector>

#include "particles/files/numpy/npy.h"
#include "particles/files/numpy/zip_archive.h"
#include "particles/files/particle_files.h"
#include "tests/support/random_source.h"
#include "tests/support/sampling.h"
#include "tests/support/update_cases.h"

namespace nbcc::test {
namespace {

void put(std::string& to, std::uint64_t value, int size) {
  for (int k = 0; k < size; ++k) to += char(value >> 8 * k);
}
std::uint64_t number(std::string_view from, std::size_t at, int size) {
  std::uint64_t value = 0;
  for (int k = size; k-- > 0;) value = value << 8 | static_cast<unsigned char>(from.at(at + std::size_t(k)));
  return value;
}

std::string npy(const std::string& type, const std::string& shape, const std::string& bytes, bool fortran = false) {
  std::string text =
      "{'descr': " + type + ", 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }\n";
  std::string made("\x93NUMPY\x01\x00", 8);
  put(made, text.size(), 2);
  return made + text + bytes;
}

std::string deflated(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = uInt(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// An archive as other programs make them: packed or not, dated, with comments, extra fields, sizes behind the bytes.
std::string random_zip(RandomSource& random, const std::vector<std::pair<std::string, std::string>>& members) {
  std::string archive = random.chance(20) ? "#!/bin/sh in front\n" : "", directory;
  for (const auto& [name, bytes] : members) {
    const bool packs = random.chance(50), sizes_behind = random.chance(30);
    const std::string packed = packs ? deflated(bytes) : bytes;
    const std::uint64_t checksum = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    std::string head, extra, comment, sizes;
    if (random.chance(30)) extra = std::string("\x55\x54\x05\x00\x01\x01\x02\x03\x04", 9);
    if (random.chance(30)) comment = "made by hand";
    put(head, 20, 2);
    put(head, sizes_behind ? 8 : 0, 2);
    put(head, packs ? 8 : 0, 2);
    put(head, random.next(), 4);
    put(sizes, checksum, 4);
    put(sizes, packed.size(), 4);
    put(sizes, bytes.size(), 4);
    const std::size_t place = archive.size();
    put(archive, 0x04034b50, 4);
    archive += head + (sizes_behind ? std::string(12, '\0') : sizes);
    put(archive, name.size(), 2);
    put(archive, extra.size(), 2);
    archive += name + extra + packed;
    if (sizes_behind) archive += "PK\x07\x08" + sizes;
    put(directory, 0x02014b50, 4);
    put(directory, 0x031e, 2);
    directory += head + sizes;
    put(directory, name.size(), 2);
    put(directory, extra.size(), 2);
    put(directory, comment.size(), 2);
    put(directory, 0, 4);
    put(directory, 0x81a40000, 4);
    put(directory, place, 4);
    directory += name + extra + comment;
  }
  const std::string comment = random.chance(30) ? "of the whole" : "";
  const std::size_t place = archive.size();
  archive += directory;
  put(archive, 0x06054b50, 4);
  put(archive, 0, 4);
  put(archive, members.size(), 2);
  put(archive, members.size(), 2);
  put(archive, directory.size(), 4);
  put(archive, place, 4);
  put(archive, comment.size(), 2);
  return archive + comment;
}

std::string random_bytes(RandomSource& random, std::size_t count) {
  std::string bytes;
  while (bytes.size() < count) bytes += char(random.next());
  return bytes;
}

std::string bytes_of(double value, bool swapped) {
  std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

std::vector<std::pair<std::string, std::string>> random_members(RandomSource& random, int rows) {
  std::vector<std::pair<std::string, std::string>> members;
  const auto row_count = std::to_string(rows);
  const auto add = [&](const std::string& name, const std::string& type, int size, const std::string& shape,
                       int count) {
    members.emplace_back(name + ".npy", npy("'" + type + "'", shape, random_bytes(random, std::size_t(size * count)),
                                            random.chance(20)));
  };
  const bool swapped = random.chance(40);
  std::string x;
  for (int k = 0; k < 3 * rows; ++k) x += bytes_of(random.below(5), swapped);
  members.emplace_back("x.npy", npy(swapped ? "'>f8'" : "'<f8'", "(" + row_count + ", 3)", x, random.chance(40)));
  const std::vector<std::pair<std::string, int>> types = {{"|i1", 1}, {"|u1", 1},   {">i2", 2}, {"<u8", 8},
                                                          {"<f2", 2}, {"<c16", 16}, {"|S5", 5}, {"<U3", 12},
                                                          {"|b1", 1}, {">i8", 8}};
  for (int k = random.below(5); k > 0; --k) {
    const auto& [type, size] = random.pick(types);
    const std::string name = "other" + std::to_string(k);
    switch (random.below(4)) {
      case 0:
        add(name, type, size, "(" + row_count + ",)", rows);
        break;
      case 1:
        add(name, type, size, "(" + row_count + ", 2)", 2 * rows);
        break;
      case 2:
        add(name, type, size, "(2, 3, 4)", 24);
        break;
      default:
        add(name, type, size, "()", 1);
    }
  }
  if (random.chance(20)) members.emplace_back("readme.txt", "of the user");
  if (random.chance(20))
    members.emplace_back("folder/records.npy", npy("[('a', '<f8'), ('b', '|u1')]", "(2,)", random_bytes(random, 18)));
  if (random.chance(30)) add("rho", "<f8", 8, "(" + row_count + ",)", rows);
  if (random.chance(20)) add("acc", "<f4", 4, "(7,)", 7);
  if (random.chance(10)) add("provenance", "<i4", 4, "(5,)", 5);
  if (random.chance(20))
    members.emplace_back("provenance.npy",
                         npy("'<U4'", "()", random_bytes(random, 0) + std::string("m\0\0\0i\0\0\0n\0\0\0e\0\0\0", 16)));
  for (std::size_t k = members.size(); k > 1; --k)
    std::swap(members[k - 1], members[std::size_t(random.below(int(k)))]);
  // Two of one name would be two arrays of one name.
  std::map<std::string, std::string> once;
  std::erase_if(members, [&](const auto& member) { return !once.emplace(member).second; });
  return members;
}

// Of each member what the directory says but where it is, and the bytes there.
std::map<std::string, std::pair<std::string, std::string>> archive_contents(const std::string& archive) {
  std::map<std::string, std::pair<std::string, std::string>> contents;
  const std::size_t end = archive.rfind("PK\x05\x06");
  std::size_t at = number(archive, end + 16, 4);
  for (std::uint64_t k = number(archive, end + 10, 2); k > 0; --k) {
    const std::size_t name = number(archive, at + 28, 2);
    const std::size_t more = number(archive, at + 30, 2) + number(archive, at + 32, 2);
    const std::size_t place = number(archive, at + 42, 4);
    std::string record = archive.substr(at, 46 + name + more);
    record.replace(42, 4, 4, '\0');
    const std::size_t head = 30 + number(archive, place + 26, 2) + number(archive, place + 28, 2);
    const std::size_t behind = number(archive, place + 6, 2) & 8 ? 16 : 0;
    contents[archive.substr(at + 46, name)] = {record,
                                               archive.substr(place, head + number(archive, at + 20, 4) + behind)};
    at += record.size();
  }
  contents[""] = {archive.substr(end + 20), ""};
  return contents;
}

TEST(UpdateNpz, KeepsWhatIsNoOutput) {
  const UpdateShell shell;
  std::size_t made = 0;
  const auto seeds = sampled_range<std::uint64_t>(1, 41, 4);
  for (const std::uint64_t seed : seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomSource random(seed);
    const int rows = random.pick<int>({0, 1, 5});
    const auto members = random_members(random, rows);
    shell.write("a.npz", random_zip(random, members));
    const auto before = archive_contents(shell.read("a.npz"));
    if (!shell.update("a.npz")) continue;
    ++made;
    const std::string updated = shell.read("a.npz");
    auto after = archive_contents(updated);
    for (const auto& [name, content] : before) {
      if (name == "rho.npy" || name == "acc.npy") continue;
      EXPECT_EQ(after[name], content) << name;
    }
    for (const ZipMember& member : zip_directory(updated))
      EXPECT_NO_THROW(unpack_zip_member(updated, member)) << member.name;
    const ParticleTable table = read_particles(shell.path("a.npz"), {"near,rho,acc[3]", ""});
    EXPECT_EQ(table.rows, rows);
    EXPECT_TRUE(shell.update("a.npz"));
    EXPECT_EQ(shell.read("a.npz"), updated);
    if (HasFailure()) return;
  }
  EXPECT_GE(10 * made, 8 * seeds.size());
}

// Places and sizes beyond 2^32, as if they were, in an archive whose members move.
TEST(UpdateNpz, ArchivesOfZip64Too) {
  const ZipContents before = {{"a.npy", "of a"}, {"b.npy", "of b"}, {"c.npy", "of c"}};
  const ZipContents changed = {{"a.npy", "another and longer"}, {"d.npy", "new"}};
  for (const std::uint64_t first : {std::uint64_t(0), std::uint64_t(10), std::uint64_t(0xffffffff)})
    for (const std::uint64_t then : {std::uint64_t(0), std::uint64_t(10), std::uint64_t(0xffffffff)}) {
      const std::string archive = update_zip(make_zip(before, first), changed, then);
      std::string all;
      for (const ZipMember& member : zip_directory(archive))
        all += member.name + "=" + unpack_zip_member(archive, member) + ";";
      EXPECT_EQ(all, "a.npy=another and longer;b.npy=of b;c.npy=of c;d.npy=new;") << first << " " << then;
    }
}

}  // namespace
}  // namespace nbcc::test
