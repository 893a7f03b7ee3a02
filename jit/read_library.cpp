// Reads sections from object files and archives. Entry point: sections_of_library(). Loads and runs nothing, and never
// reads beyond the given bytes. Archive members are parsed here, because LLVM's archive reader reads beyond the end if
// the last member is truncated.
#include "jit/read_library.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

constexpr std::string_view kArchive = "!<arch>\n", kObject =
                                                       "\x7f"
                                                       "ELF";
// The header of an archive member: 60 bytes; ten digits from byte 48 on are the size; kHeaderEnd is the last two bytes.
constexpr std::size_t kHeaderBytes = 60, kSizeAt = 48, kSizeDigits = 10;
constexpr std::string_view kHeaderEnd = "`\n";

[[noreturn]] void refuse(llvm::Error error) { throw UsageError("is no library: " + llvm::toString(std::move(error))); }

template <typename T>
T expect(llvm::Expected<T> value) {
  if (!value) refuse(value.takeError());
  return std::move(*value);
}

// Bytes that are not an ELF object, such as an archive's symbol table, have no sections.
void add_sections(std::string_view bytes, llvm::StringRef prefix, std::vector<std::string>& found) {
  if (!bytes.starts_with(kObject)) return;
  const std::string aligned(bytes);  // members begin at even addresses only, LLVM needs more alignment
  const auto object = expect(llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(aligned, "library")));
  std::size_t taken = 0;
  for (const llvm::object::SectionRef& section : object->sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName();
    if (!name) {
      llvm::consumeError(name.takeError());  // nbcc makes no sections without a name
      continue;
    }
    if (!name->starts_with(prefix)) continue;
    found.push_back(expect(section.getContents()).str());
    taken += found.back().size();
    if (taken > bytes.size()) throw UsageError("is no library: its sections are larger than itself");
  }
}

std::string_view take_member(std::string_view& rest) {
  std::size_t size = 0;
  const bool whole = rest.size() >= kHeaderBytes && rest.substr(kHeaderBytes - 2, 2) == kHeaderEnd;
  const char* const digits = rest.data() + kSizeAt;
  if (!whole || std::from_chars(digits, digits + kSizeDigits, size).ec != std::errc() ||
      size > rest.size() - kHeaderBytes) {
    throw UsageError("is no library: the archive is damaged or cut off");
  }
  const std::string_view member = rest.substr(kHeaderBytes, size);
  // Members begin at even offsets; the padding byte after the last member may be missing.
  rest.remove_prefix(std::min(rest.size(), kHeaderBytes + size + size % 2));
  return member;
}

}  // namespace

std::vector<std::string> sections_of_library(const std::string& bytes, const std::string& prefix) {
  std::vector<std::string> found;
  std::string_view rest = bytes;
  if (rest.starts_with(kObject)) {
    add_sections(rest, prefix, found);
  } else if (rest.starts_with(kArchive)) {
    rest.remove_prefix(kArchive.size());
    while (!rest.empty()) add_sections(take_member(rest), prefix, found);
  } else {
    throw UsageError("is no library");
  }
  return found;
}

}  // namespace nbcc
