// Zip archives, as far as .npz needs them: members stored or deflated, of any size (zip64), one file, not encrypted.
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

// A member as the archive's central directory describes it, not yet checked against the member itself.
struct ZipMember {
  std::string name;
  unsigned flags = 0, method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t packed_size = 0, size = 0, offset = 0;
};

// Throws ZipError if the bytes are not a zip archive.
std::vector<ZipMember> zip_directory(std::string_view archive);

// Unpacks a member and checks its length and CRC against the directory. Allocates only if the stated size is possible
// for the packed size. Throws ZipError.
std::string unpack_zip_member(std::string_view archive, const ZipMember& member);

// Unpacks at most the first `max_bytes` bytes of a member, without checks. Throws ZipError.
std::string unpack_zip_begin(std::string_view archive, const ZipMember& member, std::size_t max_bytes);

using ZipContents = std::vector<std::pair<std::string, std::string>>;  // name and bytes of each member

// Returns an archive of these members, stored, dated 1980-01-01. Numbers >= `zip64_from` are written in zip64 form.
std::string make_zip(const ZipContents& members, std::uint64_t zip64_from = 0xffffffff);

// Returns the archive with these members; they replace members of the same name, or are appended. All other members
// keep their bytes and their directory records, and the archive keeps its comment. Throws ZipError.
std::string update_zip(std::string_view archive, const ZipContents& members, std::uint64_t zip64_from = 0xffffffff);

}  // namespace nbcc
