// A path -> Source. Entry point: read_source(). Source gives the pipeline's name and the text's lines. The size and the
// content of the text are not checked here.
#include "compiler/text/source.h"

#include <fmt/core.h>

#include <cctype>
#include <filesystem>
#include <utility>

#include "compiler/text/pipeline_library.h"
#include "compiler/text/read_file.h"

namespace nbcc {
namespace {

// Far more bytes than the compiler accepts as a pipeline; the limit also ends the reading of an endless device.
constexpr std::size_t kReadLimit = std::size_t(16) << 20;

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
  std::error_code ignored;
  if (is_library_name(path) && !std::filesystem::is_regular_file(path, ignored)) {
    const std::string_view text = library_text(path);
    if (!text.empty()) return {.path = path + ".pipe", .text = std::string(text)};
    if (!std::filesystem::exists(path, ignored))
      throw SourceUnreadable(fmt::format("cannot read {0}: no such file, and {1}", path, no_such_pipeline(path)));
  }
  FileContent content = read_file(path, kReadLimit);
  if (!content.problem.empty()) throw SourceUnreadable("cannot read " + path + ": " + content.problem);
  return {.path = path, .text = std::move(content.bytes)};
}

}  // namespace nbcc
