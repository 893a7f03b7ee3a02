// Renders diagnostics in Clang's form. Entry point: render(). The text is safe to print: control characters, and bytes
// that are not UTF-8, are replaced by '?'. It prints nothing itself.
#include "compiler/text/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace nbcc {
namespace {

// A longer source line is cut to this many bytes around the column, so that a generated one-line file stays legible.
constexpr std::size_t kLineWidth = 160;
constexpr std::string_view kEllipsis = "...";

constexpr std::string_view kSeverityNames[] = {"note", "warning", "error"};  // [Severity]

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Bytes of the UTF-8 sequence at the start of `text`; 0 if it is malformed.
std::size_t sequence_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length > text.size()) return 0;
  return std::all_of(text.begin() + 1, text.begin() + std::ptrdiff_t(std::max<std::size_t>(length, 1)), continues)
             ? length
             : 0;
}

// The result has as many bytes as `line`, so that columns stay valid.
std::string printable(std::string_view line) {
  std::string result;
  while (!line.empty()) {
    const std::size_t length = sequence_length(line);
    const auto first = static_cast<unsigned char>(line.front());
    const bool control = (first < 0x20 && first != '\t') || first == 0x7f;
    if (length == 0 || control) {
      result += '?';
      line.remove_prefix(1);
    } else {
      result += line.substr(0, length);
      line.remove_prefix(length);
    }
  }
  return result;
}

// A section of the line around `column` (bytes, from 0); `column` becomes its position in that section.
std::string clip(const std::string& line, std::size_t& column) {
  if (line.size() <= kLineWidth) return line;
  std::size_t begin = column > kLineWidth / 2 ? column - kLineWidth / 2 : 0;
  begin = std::min(begin, line.size() - kLineWidth);
  std::size_t end = begin + kLineWidth;
  while (begin > 0 && continues(line[begin])) --begin;
  while (end < line.size() && continues(line[end])) ++end;
  const std::string_view head = begin > 0 ? kEllipsis : "";
  const std::string_view tail = end < line.size() ? kEllipsis : "";
  column = column - begin + head.size();
  return fmt::format("{}{}{}", head, std::string_view(line).substr(begin, end - begin), tail);
}

std::string caret_line(std::string_view shown, std::size_t column) {
  std::string result;
  for (char c : shown.substr(0, column)) {
    if (!continues(c)) result += c == '\t' ? '\t' : ' ';
  }
  return result + '^';
}

}  // namespace

bool has_errors(const std::vector<Diagnostic>& diagnostics) {
  return std::ranges::find(diagnostics, Severity::Error, &Diagnostic::severity) != diagnostics.end();
}

std::string render(const Source& source, const Diagnostic& diagnostic) {
  const Location where = diagnostic.where;
  std::string head = source.path;
  if (where.line > 0) head += fmt::format(":{}", where.line);
  if (where.line > 0 && where.column > 0) head += fmt::format(":{}", where.column);
  std::string result = fmt::format("{}: {}: {}\n", head, kSeverityNames[int(diagnostic.severity)], diagnostic.message);
  const std::string line = where.line > 0 ? printable(source.line(where.line)) : std::string();
  if (line.empty()) return result;
  std::size_t column = std::min(std::size_t(std::max(where.column, 1)) - 1, line.size());
  const std::string shown = clip(line, column);
  result += shown + '\n';
  if (where.column > 0) result += caret_line(shown, column) + '\n';
  return result;
}

std::string render(const Source& source, const std::vector<Diagnostic>& diagnostics) {
  std::string result;
  for (const Diagnostic& diagnostic : diagnostics) result += render(source, diagnostic);
  return result;
}

CompileError::CompileError(const Source& source, std::vector<Diagnostic> list)
    : std::runtime_error(render(source, list)), diagnostics(std::move(list)) {}

CompileError::~CompileError() = default;
InternalError::~InternalError() = default;

}  // namespace nbcc
