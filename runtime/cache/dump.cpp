// A kernel's source or object -> a file with a readable name. Interface: dump_stem(), write_dump().
#include "runtime/cache/dump.h"

#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "fmt/format.h"
#include "runtime/cache/file_size_signal.h"
#include "runtime/error.h"

namespace nbcc {

std::string dump_stem(const std::string& folder, const KernelSource& source, const std::string& key) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) throw DeviceError(fmt::format("cannot make the dump folder {}: {}", folder, error.message()));
  std::string name = source.pipeline + "-" + source.target;
  std::ranges::replace_if(name, [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '_'; }, '_');
  return fmt::format("{}/{}-{:08x}", folder, name, std::uint32_t(XXH3_64bits(key.data(), key.size())));
}

void write_dump(const std::string& path, const std::string& content) {
  const FileSizeSignalHeld held;
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), std::streamsize(content.size())).flush();
  if (!file) throw DeviceError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

}  // namespace nbcc
