// Reads and writes zip archives. The entry points are declared in the header. zlib inflates members and computes their
// CRC. Knows no arrays and opens no files. The layout follows PKWARE's APPNOTE.TXT.
#include "particles/files/numpy/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace nbcc {
namespace {

constexpr std::uint64_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint64_t kZip64End = 0x06064b50, kZip64EndLocator = 0x07064b50;
constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kZip64EndSize = 56, kLocatorSize = 20;
constexpr unsigned kStored = 0, kDeflated = 8, kEncrypted = 1, kNameIsUtf8 = 1 << 11;
constexpr std::uint64_t kInZip64Field = 0xffffffff, kCountInZip64Field = 0xffff;  // "the value is in the zip64 field"
constexpr std::uint64_t kFirstOfJanuary1980 = 1 << 5 | 1;
// Deflate compresses 1032 bytes to one byte at best; for a larger ratio nothing is allocated.
constexpr std::uint64_t kMaxDeflateRatio = 1032;

// Reads little-endian numbers; throws ZipError beyond the end of the bytes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) throw ZipError("a record of it is truncated");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::uint64_t number(int size) {
    std::uint64_t value = 0;
    const std::string_view taken = take(static_cast<std::uint64_t>(size));
    for (int k = size; k-- > 0;) value = value << 8 | static_cast<unsigned char>(taken[static_cast<std::size_t>(k)]);
    return value;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

Reader record_at(std::string_view archive, std::uint64_t offset, std::uint64_t signature) {
  if (offset > archive.size()) throw ZipError("an offset in it lies beyond its end");
  Reader record(archive.substr(offset));
  if (record.number(4) != signature) throw ZipError("a record is not where another says");
  return record;
}

// The offset of the end of central directory record, which is the last record; only a comment may follow.
std::size_t offset_of_end(std::string_view archive) {
  for (std::size_t comment = 0; comment <= 0xffff && comment + kEndSize <= archive.size(); ++comment) {
    const std::size_t offset = archive.size() - kEndSize - comment;
    Reader record(archive.substr(offset));
    if (record.number(4) != kEnd) continue;
    record.take(16);
    if (record.number(2) == comment) return offset;
  }
  throw ZipError("it has no directory of members at its end");
}

struct Directory {
  std::uint64_t count, size, offset;
};

Directory find_directory(std::string_view archive) {
  const std::size_t end = offset_of_end(archive);
  Reader record = record_at(archive, end, kEnd);
  if (record.number(4) != 0) throw ZipError("it is one of several files");
  record.take(2);
  Directory directory{};
  directory.count = record.number(2);
  directory.size = record.number(4);
  directory.offset = record.number(4);
  if (directory.count != kCountInZip64Field && directory.size != kInZip64Field && directory.offset != kInZip64Field)
    return directory;
  if (end < kLocatorSize) throw ZipError("it is too short for its directory");
  Reader locator = record_at(archive, end - kLocatorSize, kZip64EndLocator);
  locator.take(4);
  Reader zip64_end = record_at(archive, locator.number(8), kZip64End);
  zip64_end.take(28);
  directory.count = zip64_end.number(8);
  directory.size = zip64_end.number(8);
  directory.offset = zip64_end.number(8);
  return directory;
}

// Reads the zip64 extended information: 64-bit values of those numbers that do not fit their header fields, in order.
void take_zip64_numbers(std::string_view extra, std::initializer_list<std::uint64_t*> numbers) {
  Reader fields(extra);
  while (!fields.empty()) {
    const std::uint64_t kind = fields.number(2);
    Reader field(fields.take(fields.number(2)));
    if (kind != 1) continue;
    for (std::uint64_t* number : numbers) {
      if (*number == kInZip64Field) *number = field.number(8);
    }
  }
}

std::string_view packed_bytes(std::string_view archive, const ZipMember& member) {
  if (member.flags & kEncrypted) throw ZipError("it cannot be unpacked: it is encrypted");
  if (member.method != kStored && member.method != kDeflated)
    throw ZipError("it cannot be unpacked: it is neither stored nor deflated");
  Reader header = record_at(archive, member.offset, kLocalHeader);
  header.take(22);
  const std::uint64_t name = header.number(2), extra = header.number(2);
  header.take(name + extra);
  return header.take(member.packed_size);
}

// Throws ZipError unless the member has the same name in its own header as in the directory.
void check_name(std::string_view archive, const ZipMember& member) {
  Reader header = record_at(archive, member.offset, kLocalHeader);
  header.take(22);
  const std::uint64_t size = header.number(2);
  header.take(2);
  if (header.take(size) != member.name) throw ZipError("a member has another name in its directory");
}

// Inflates at most `size` bytes; sets `more` if the member is longer.
std::string inflate_begin(std::string_view packed, std::size_t size, bool& more) {
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw ZipError("it cannot be unpacked: zlib does not start");
  constexpr std::size_t chunk = std::numeric_limits<int>::max();  // zlib counts in 32 bits
  std::string bytes(size + 1, '\0');
  std::size_t taken = 0, given = 0;
  int status = Z_OK;
  while (status == Z_OK && given < bytes.size()) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = static_cast<uInt>(std::min(chunk, packed.size() - taken));
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + given);
    stream.avail_out = static_cast<uInt>(std::min(chunk, bytes.size() - given));
    const uInt in = stream.avail_in, out = stream.avail_out;
    status = ::inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    given += out - stream.avail_out;
  }
  ::inflateEnd(&stream);
  if (status == Z_BUF_ERROR) throw ZipError("it is truncated within the archive");
  if (status != Z_OK && status != Z_STREAM_END) throw ZipError("it cannot be unpacked: its bytes are damaged");
  more = given > size;
  bytes.resize(std::min(given, size));
  return bytes;
}

std::uint32_t checksum_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void put(std::string& to, std::uint64_t value, int size) {
  for (int k = 0; k < size; ++k) to += static_cast<char>(value >> 8 * k);
}

// "Version needed to extract": 4.5, the first with zip64.
constexpr std::uint64_t kVersion = 45;

// Writes the fields that local and central headers have in common.
void put_member(std::string& to, const ZipMember& member, std::uint64_t zip64_from) {
  put(to, kVersion, 2);
  put(to, member.flags, 2);
  put(to, member.method, 2);
  put(to, kFirstOfJanuary1980 << 16, 4);
  put(to, member.checksum, 4);
  for (const std::uint64_t size : {member.packed_size, member.size})
    put(to, size >= zip64_from ? kInZip64Field : size, 4);
  put(to, member.name.size(), 2);
}

// Returns the zip64 extended information. Contains both sizes or none, as a local header requires.
std::string zip64_extra(const ZipMember& member, std::uint64_t zip64_from, bool with_offset) {
  std::string numbers, extra;
  if (member.size >= zip64_from) {
    put(numbers, member.size, 8);
    put(numbers, member.packed_size, 8);
  }
  if (with_offset && member.offset >= zip64_from) put(numbers, member.offset, 8);
  if (numbers.empty()) return extra;
  put(extra, 1, 2);
  put(extra, numbers.size(), 2);
  return extra + numbers;
}

void put_end(std::string& to, const Directory& directory, std::uint64_t zip64_from, std::string_view comment = "") {
  const bool many = directory.count >= std::min(kCountInZip64Field, zip64_from);
  if (many || directory.offset >= zip64_from || directory.size >= zip64_from) {
    const std::uint64_t offset = to.size();
    put(to, kZip64End, 4);
    put(to, kZip64EndSize - 12, 8);
    for (int k = 0; k < 2; ++k) put(to, kVersion, 2);
    put(to, 0, 8);
    for (int k = 0; k < 2; ++k) put(to, directory.count, 8);
    put(to, directory.size, 8);
    put(to, directory.offset, 8);
    put(to, kZip64EndLocator, 4);
    put(to, 0, 4);
    put(to, offset, 8);
    put(to, 1, 4);
  }
  put(to, kEnd, 4);
  put(to, 0, 4);
  for (int k = 0; k < 2; ++k) put(to, many ? kCountInZip64Field : directory.count, 2);
  put(to, directory.size >= zip64_from ? kInZip64Field : directory.size, 4);
  put(to, directory.offset >= zip64_from ? kInZip64Field : directory.offset, 4);
  put(to, comment.size(), 2);
  to += comment;
}

// Appends a stored member to `archive` and its record to `directory`.
void put_stored(std::string& archive, std::string& directory, const std::string& name, std::string_view bytes,
                std::uint64_t zip64_from) {
  ZipMember member{name, 0, kStored, checksum_of(bytes), bytes.size(), bytes.size(), archive.size()};
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    member.flags = kNameIsUtf8;
  const std::string local = zip64_extra(member, zip64_from, false), central = zip64_extra(member, zip64_from, true);
  put(archive, kLocalHeader, 4);
  put_member(archive, member, zip64_from);
  put(archive, local.size(), 2);
  archive += name + local;
  archive += bytes;
  put(directory, kCentralHeader, 4);
  put(directory, kVersion, 2);
  put_member(directory, member, zip64_from);
  put(directory, central.size(), 2);
  for (int k = 0; k < 5; ++k) put(directory, 0, 2);  // comment length, disk number, internal and external attributes
  put(directory, member.offset >= zip64_from ? kInZip64Field : member.offset, 4);
  directory += name + central;
}

// A member and the bytes of its record in the central directory.
struct Entry {
  ZipMember member;
  std::string_view record;
};

std::vector<Entry> entries_of(std::string_view archive, const Directory& directory) {
  if (directory.offset > archive.size()) throw ZipError("its directory lies beyond its end");
  const std::string_view all = Reader(archive.substr(directory.offset)).take(directory.size);
  Reader records(all);
  std::vector<Entry> entries;
  std::size_t begin = 0;
  for (std::uint64_t k = 0; k < directory.count; ++k) {
    if (records.number(4) != kCentralHeader) throw ZipError("its directory is damaged");
    ZipMember member;
    records.take(4);
    member.flags = static_cast<unsigned>(records.number(2));
    member.method = static_cast<unsigned>(records.number(2));
    records.take(4);
    member.checksum = static_cast<std::uint32_t>(records.number(4));
    member.packed_size = records.number(4);
    member.size = records.number(4);
    const std::uint64_t name = records.number(2), extra = records.number(2), comment = records.number(2);
    records.take(8);
    member.offset = records.number(4);
    member.name = records.take(name);
    take_zip64_numbers(records.take(extra), {&member.size, &member.packed_size, &member.offset});
    records.take(comment);
    const std::size_t size = kCentralSize + name + extra + comment;
    entries.push_back({std::move(member), all.substr(begin, size)});
    begin += size;
  }
  if (!records.empty()) throw ZipError("its directory has more members than it says");
  return entries;
}

// Returns a record of the central directory with another offset of its member.
std::string with_member_offset(std::string_view record, std::uint64_t offset, std::uint64_t zip64_from) {
  constexpr std::size_t kPackedSize = 20, kNameSize = 28, kExtraSize = 30, kOffset = 42;
  const auto number = [&](std::size_t at, int size) { return Reader(record.substr(at)).number(size); };
  const std::size_t extra_begin = kCentralSize + number(kNameSize, 2), extra_size = number(kExtraSize, 2);
  std::string offset_field, zip64_offset, extra(record.substr(extra_begin, extra_size));
  put(zip64_offset, offset, 8);
  const bool was_zip64 = number(kOffset, 4) == kInZip64Field, is_zip64 = was_zip64 || offset >= zip64_from;
  put(offset_field, is_zip64 ? kInZip64Field : offset, 4);
  std::size_t at = 0;  // offset of the zip64 extended information in `extra`
  const auto half = [&](std::size_t where) { return Reader(std::string_view(extra).substr(where)).number(2); };
  while (at + 4 <= extra.size() && half(at) != 1) at += 4 + half(at + 2);
  if (was_zip64) {
    const std::size_t sizes =
        8 * std::size_t((number(kPackedSize, 4) == kInZip64Field) + (number(kPackedSize + 4, 4) == kInZip64Field));
    extra.replace(at + 4 + sizes, 8, zip64_offset);
  } else if (is_zip64) {
    if (at + 4 > extra.size()) {
      at = extra.size();
      extra += std::string("\1\0\0\0", 4);
    }
    const std::size_t size = half(at + 2);
    std::string longer;
    put(longer, size + 8, 2);
    extra.replace(at + 2, 2, longer);
    extra.insert(at + 4 + size, zip64_offset);
  }
  std::string result(record.substr(0, kExtraSize));
  put(result, extra.size(), 2);
  result += record.substr(kExtraSize + 2, kOffset - kExtraSize - 2);
  result += offset_field;
  result += record.substr(kCentralSize, extra_begin - kCentralSize);
  result += extra;
  return result + std::string(record.substr(extra_begin + extra_size));
}

}  // namespace

std::vector<ZipMember> zip_directory(std::string_view archive) {
  std::vector<ZipMember> members;
  for (Entry& entry : entries_of(archive, find_directory(archive))) {
    check_name(archive, entry.member);
    members.push_back(std::move(entry.member));
  }
  return members;
}

std::string unpack_zip_member(std::string_view archive, const ZipMember& member) {
  if (member.packed_size > archive.size() || member.size / kMaxDeflateRatio > member.packed_size + 1)
    throw ZipError("its size in the archive's directory cannot be true");
  const std::string_view packed = packed_bytes(archive, member);
  bool more = packed.size() > member.size;
  const std::string bytes =
      member.method == kStored ? std::string(packed.substr(0, member.size)) : inflate_begin(packed, member.size, more);
  if (bytes.size() < member.size) throw ZipError("it is truncated within the archive");
  if (more) throw ZipError("it is longer than the archive's directory says");
  if (checksum_of(bytes) != member.checksum) throw ZipError("it cannot be unpacked: CRC error");
  return bytes;
}

std::string unpack_zip_begin(std::string_view archive, const ZipMember& member, std::size_t max_bytes) {
  const std::string_view packed = packed_bytes(archive, member);
  bool more = false;
  return member.method == kStored ? std::string(packed.substr(0, max_bytes)) : inflate_begin(packed, max_bytes, more);
}

std::string make_zip(const ZipContents& members, std::uint64_t zip64_from) {
  std::string archive, directory;
  std::uint64_t size = 0;
  for (const auto& [name, bytes] : members) size += kLocalSize + kCentralSize + 2 * name.size() + bytes.size();
  archive.reserve(size + kEndSize);
  for (const auto& [name, bytes] : members) put_stored(archive, directory, name, bytes, zip64_from);
  const Directory end{members.size(), directory.size(), archive.size()};
  archive += directory;
  put_end(archive, end, zip64_from);
  return archive;
}

std::string update_zip(std::string_view archive, const ZipContents& members, std::uint64_t zip64_from) {
  const Directory directory = find_directory(archive);
  const std::vector<Entry> entries = entries_of(archive, directory);
  std::vector<std::uint64_t> offsets{directory.offset};
  for (const Entry& entry : entries) offsets.push_back(entry.member.offset);
  std::ranges::sort(offsets);
  if (offsets.back() != directory.offset) throw ZipError("a member of it lies after its directory");
  const auto is_replaced = [&](const Entry& entry) {
    return std::ranges::find(members, entry.member.name, &ZipContents::value_type::first) != members.end();
  };
  std::string made(archive.substr(0, offsets.front()));
  // Copy the other members in file order. A data descriptor after a member is copied with it.
  std::vector<std::string> records(entries.size());
  std::vector<std::size_t> order(entries.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::ranges::sort(order, {}, [&](std::size_t k) { return entries[k].member.offset; });
  for (const std::size_t k : order) {
    if (is_replaced(entries[k])) continue;
    const std::uint64_t begin = entries[k].member.offset, end = *std::ranges::upper_bound(offsets, begin);
    record_at(archive, begin, kLocalHeader);
    records[k] = with_member_offset(entries[k].record, made.size(), zip64_from);
    made += archive.substr(begin, end - begin);
  }
  std::vector<std::string> added;
  for (const auto& [name, bytes] : members) put_stored(made, added.emplace_back(), name, bytes, zip64_from);
  // The record of a replaced member keeps its position in the directory.
  std::string list;
  std::uint64_t count = 0;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    std::string* record = &records[k];
    for (std::size_t m = 0; m < members.size(); ++m)
      if (members[m].first == entries[k].member.name) record = &added[m];
    count += !record->empty();
    list += std::exchange(*record, "");
  }
  for (const std::string& record : added) {
    count += !record.empty();
    list += record;
  }
  const Directory end{count, list.size(), made.size()};
  made += list;
  put_end(made, end, zip64_from, archive.substr(offset_of_end(archive) + kEndSize));
  return made;
}

}  // namespace nbcc
