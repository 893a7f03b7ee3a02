// A key -> the value made for it earlier, shared by processes. Interface: DiskCache::get_or_make. Values are opaque
// bytes. The size of the cache is not limited. Every failure of the cache is a miss, never an exception.
//
// An entry is one file of the folder `kernels`, named by the key's hash: Header, key, value. The file is written under
// a temporary name and renamed, so that an entry is complete or missing. An entry with invalid content is deleted; an
// I/O error while reading deletes nothing. The shared folder has the same form.
#include "runtime/cache/disk_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "fmt/format.h"
#include "runtime/cache/own_folder.h"

namespace nbcc {
namespace {

constexpr std::string_view kEntrySuffix = ".kernel";
constexpr std::uint32_t kVersion = 1;

struct Header {
  char magic[8] = {'n', 'b', 'c', 'c', 'k', 'r', 'n', '\n'};
  std::uint32_t version = kVersion;
  std::uint32_t reserved = 0;
  std::uint64_t key_bytes = 0, value_bytes = 0;
  std::uint64_t checksum = 0;  // of the entry, with this field set to 0
};
static_assert(sizeof(Header) == 40);

std::string entry_name(const std::string& key) {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return fmt::format("{:016x}{:016x}{}", hash.high64, hash.low64, kEntrySuffix);
}

std::uint64_t checksum(Header header, std::string_view key_and_value) {
  header.checksum = 0;
  const std::uint64_t seed = XXH3_64bits(&header, sizeof header);
  return XXH3_64bits_withSeed(key_and_value.data(), key_and_value.size(), seed);
}

// The value in the bytes of an entry file; nothing if store() would not write this content for this key.
std::optional<std::string> value_of(std::string_view entry, std::string_view key) {
  Header header;
  const Header expected;
  if (entry.size() < sizeof header) return {};
  std::memcpy(&header, entry.data(), sizeof header);
  const std::string_view rest = entry.substr(sizeof header);
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 || header.version != kVersion) return {};
  if (header.key_bytes > rest.size() || header.value_bytes != rest.size() - header.key_bytes) return {};
  if (header.checksum != checksum(header, rest) || rest.substr(0, header.key_bytes) != key) return {};
  return std::string(rest.substr(header.key_bytes));
}

std::optional<std::string> read_entry(const OwnFolder& folder, const std::string& key) {
  OwnFolder::Status status;
  const OwnFile file = folder.open_file(entry_name(key), status);
  if (!file) return {};
  const std::optional<std::string> entry = file.read(status.bytes);
  if (!entry || entry->size() < status.bytes) return {};
  std::optional<std::string> value = value_of(*entry, key);
  if (!value) folder.remove(entry_name(key));
  return value;
}

void write_entry(const OwnFolder& folder, const std::string& key, const std::string& value) {
  Header header;
  header.key_bytes = key.size();
  header.value_bytes = value.size();
  const std::string content = key + value;
  header.checksum = checksum(header, content);
  folder.replace(entry_name(key), {std::string_view(reinterpret_cast<const char*>(&header), sizeof header), content});
}

std::vector<DiskCache::Entry> entries_of(const OwnFolder& folder) {
  std::vector<DiskCache::Entry> entries;
  if (!folder) return entries;
  for (const std::string& name : folder.entries()) {
    OwnFolder::Status status;
    Header header;
    const OwnFile file = folder.open_file(name, status);
    const std::optional<std::string> begin = file ? file.read(sizeof header + 512) : std::nullopt;
    if (!begin || begin->size() < sizeof header) continue;
    std::memcpy(&header, begin->data(), sizeof header);
    if (std::memcmp(header.magic, Header().magic, sizeof header.magic) != 0) continue;
    const std::string key = begin->substr(sizeof header, std::size_t(header.key_bytes));
    entries.push_back({name, std::int64_t(status.bytes), status.modified, key.substr(0, key.find('\n'))});
  }
  std::ranges::sort(entries, {}, [](const DiskCache::Entry& entry) { return std::pair(-entry.modified, entry.name); });
  return entries;
}

std::string kernels_in(const std::string& folder) { return folder.empty() ? "" : folder + "/kernels"; }

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

DiskCache::DiskCache(std::string folder, std::string shared_folder)
    : folder_(std::move(folder)),
      kernels_(kernels_in(folder_)),
      shared_folder_(folder_.empty() ? "" : std::move(shared_folder)),
      shared_kernels_(kernels_in(shared_folder_)) {}

std::string DiskCache::default_folder() {
  if (const std::string own = variable("NBCC_CACHE_DIR"); !own.empty()) return own;
  // By the XDG base directory specification, relative paths are invalid and must be ignored.
  if (const std::string xdg = variable("XDG_CACHE_HOME"); xdg.starts_with('/')) return xdg + "/nbcc";
  if (const std::string home = variable("HOME"); home.starts_with('/')) return home + "/.cache/nbcc";
  return "";
}

std::string DiskCache::default_shared_folder() { return variable("NBCC_SHARED_CACHE_DIR"); }

OwnFolder::Trouble DiskCache::trouble_of_shared() const {
  return shared_folder_.empty() ? OwnFolder::Trouble() : OwnFolder::trouble_of_shared(shared_kernels_);
}

OwnFolder::Trouble DiskCache::trouble() const {
  if (folder_.empty()) return {"no folder is named", "set NBCC_CACHE_DIR, XDG_CACHE_HOME or HOME"};
  return OwnFolder::trouble(kernels_);
}

std::optional<std::string> DiskCache::lookup(const std::string& key) const {
  std::optional<std::string> own = quietly([&] { return read_entry(OwnFolder::open(kernels_, kEntrySuffix), key); });
  if (own) return own;
  return quietly(
      [&] { return read_entry(OwnFolder::open(shared_kernels_, kEntrySuffix, OwnFolder::Owner::Any), key); });
}

void DiskCache::store(const std::string& key, const std::string& value) const {
  quietly([&] {
    if (const OwnFolder folder = OwnFolder::make(kernels_, kEntrySuffix)) write_entry(folder, key, value);
  });
}

void DiskCache::remove(const std::string& key) const {
  quietly([&] { return OwnFolder::open(kernels_, kEntrySuffix).remove(entry_name(key)); });
}

std::string DiskCache::get_or_make(const std::string& key, const std::function<std::string()>& make) const {
  if (std::optional<std::string> value = lookup(key)) return *std::move(value);
  const OwnFolder folder = quietly([&] { return OwnFolder::make(kernels_, kEntrySuffix); });
  if (!folder) return make();

  // Held while the value is made.
  OwnLock lock(folder, entry_name(key));
  const auto deadline = std::chrono::steady_clock::now() + wait_limit_;
  auto wait = std::chrono::milliseconds(1);
  for (;;) {
    const OwnLock::State state = lock.try_take();
    // Look up again even after taking the lock: its last holder may have stored the value in the meantime.
    if (std::optional<std::string> value = lookup(key)) return *std::move(value);
    // If locking is impossible, several processes may make and store the value: the last rename wins, which is
    // harmless.
    if (state != OwnLock::State::Busy) break;
    if (std::chrono::steady_clock::now() >= deadline) return make();
    std::this_thread::sleep_for(wait);
    wait = std::min(2 * wait, std::chrono::milliseconds(20));
  }
  std::string value = make();
  quietly([&] { write_entry(folder, key, value); });
  return value;
}

std::vector<DiskCache::Entry> DiskCache::list() const {
  return quietly([&] { return entries_of(OwnFolder::open(kernels_, kEntrySuffix)); });
}

std::vector<DiskCache::Entry> DiskCache::list_shared() const {
  return quietly([&] { return entries_of(OwnFolder::open(shared_kernels_, kEntrySuffix, OwnFolder::Owner::Any)); });
}

int DiskCache::clear() const {
  return quietly([&] { return OwnFolder::open(kernels_, kEntrySuffix).clear(); });
}

}  // namespace nbcc
