// Zip archives as far as .npz needs them: members stored or deflated, of any size (zip64), in one file, not encrypted.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nbcc {

struct ZipError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// As the archive's directory has it; nothing of it has been held against the member itself.
struct ZipMember {
  std::string name;
  unsigned flags = 0, method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t packed_size = 0, size = 0, place = 0;
};

// Throws ZipError where the bytes are no archive.
std::vector<ZipMember> zip_directory(std::string_view archive);

// All of a member, whose length and checksum are compared with the directory's; memory is asked for only where the size
// can be true. Throws ZipError.
std::string unpack_zip_member(std::string_view archive, const ZipMember& member);

// The first bytes of a member, `most` or fewer; nothing is compared. Throws ZipError.
std::string unpack_zip_begin(std::string_view archive, const ZipMember& member, std::size_t most);

using ZipContents = std::vector<std::pair<std::string, std::string>>;  // name and bytes of each member

// An archive of these members, stored, dated 1980-01-01. Numbers from `long_from` on are written in 64 bits.
std::string make_zip(const ZipContents& members, std::uint64_t long_from = 0xffffffff);

// The archive with these members in the place of those of the same names, or behind all others. The others keep their
// bytes, and what the directory says of them, the archive its comment. Throws ZipError.
std::string update_zip(std::string_view archive, const ZipContents& members, std::uint64_t long_from = 0xffffffff);

}  // namespace nbcc
