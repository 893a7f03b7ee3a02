// A path becomes a Source by read_source(), the one door; Source answers for its name and its lines.
// It judges neither the size nor the content of what it read.
#include "compiler/source.h"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

namespace nbcc {
namespace {

// Far more than the compiler accepts as a pipeline; reading stops here so that an endless device ends too.
constexpr std::size_t kReadLimit = std::size_t(16) << 20;

[[noreturn]] void refuse(const std::string& path, int reason) {
  throw SourceUnreadable("cannot read " + path + ": " + std::generic_category().message(reason));
}

}  // namespace

std::string Source::name() const {
  std::string result = std::filesystem::path(path).stem().string();
  for (char& c : result) {
    if (!std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80) c = '_';
  }
  if (result.empty()) return "pipeline";
  if (std::isdigit(static_cast<unsigned char>(result.front()))) result.insert(result.begin(), '_');
  return result;
}

std::string_view Source::line(int number) const {
  std::string_view rest = text;
  for (int k = 1; k < number; ++k) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
  if (number < 1) return {};
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

SourceUnreadable::~SourceUnreadable() = default;

Source read_source(const std::string& path) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  errno = 0;
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
  if (!file) refuse(path, errno);
  Source source{.path = path, .text = {}};
  char block[1 << 16];
  while (source.text.size() < kReadLimit) {
    errno = 0;
    const std::size_t count = std::fread(block, 1, sizeof block, file.get());
    source.text.append(block, count);
    // A folder can be opened but not read, so it is refused here.
    if (std::ferror(file.get())) refuse(path, errno);
    if (count < sizeof block) break;
  }
  return source;
}

}  // namespace nbcc
