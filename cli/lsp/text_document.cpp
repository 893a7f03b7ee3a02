// A text -> its lines, words, comments and positions. Entry point: TextDocument. It knows blanks, words and comments,
// no other part of the language.
#include "cli/lsp/text_document.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace nbcc {
namespace {

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_in_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

// Bytes of the UTF-8 character that begins here; 1 for a byte that begins none.
std::size_t bytes_of_character(unsigned char first) {
  return first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
}

}  // namespace

TextDocument::TextDocument(std::string text) : text_(std::move(text)) {
  starts_.push_back(0);
  for (std::size_t at = 0; at < text_.size(); ++at)
    if (text_[at] == '\n') starts_.push_back(at + 1);
  find_words();
}

void TextDocument::find_words() {
  const std::string_view all = text_;
  for (std::size_t at = 0; at < all.size();) {
    if (all.substr(at).starts_with("//") || all.substr(at).starts_with("/*")) {
      const bool is_line = all[at + 1] == '/';
      std::size_t end = is_line ? all.find('\n', at) : all.find("*/", at + 2);
      end = end == std::string_view::npos ? all.size() : is_line ? end : end + 2;
      comments_.emplace_back(at, end);
      at = end;
    } else if (begins_name(all[at])) {
      std::size_t end = at;
      while (end < all.size() && is_in_name(all[end])) ++end;
      words_.push_back({location_at(at), all.substr(at, end - at)});
      at = end;
    } else if (is_in_name(all[at])) {  // 1e5, 0x1f
      while (at < all.size() && (is_in_name(all[at]) || all[at] == '.')) ++at;
    } else {
      ++at;
    }
  }
}

std::string_view TextDocument::line(int number) const {
  if (number < 1 || number > lines()) return {};
  const std::size_t begin = starts_[std::size_t(number - 1)];
  const std::size_t end = number < lines() ? starts_[std::size_t(number)] - 1 : text_.size();
  std::string_view result = std::string_view(text_).substr(begin, end - begin);
  if (result.ends_with('\r')) result.remove_suffix(1);
  return result;
}

Location TextDocument::location_of(const LspJson& position) const {
  // 64 bits: some editors give the largest number there is for the end of a text.
  const auto number = int(std::clamp<std::int64_t>(position.at("line").get<std::int64_t>(), 0, lines() - 1) + 1);
  const std::string_view all = line(number);
  auto units = position.at("character").get<std::int64_t>();
  std::size_t at = 0;
  while (units > 0 && at < all.size()) {
    const std::size_t bytes = bytes_of_character(static_cast<unsigned char>(all[at]));
    units -= bytes == 4 ? 2 : 1;
    at = std::min(at + bytes, all.size());
  }
  return {number, int(at) + 1};
}

LspJson TextDocument::position_of(Location where) const {
  const int number = std::clamp(where.line, 1, lines());
  const std::string_view all = line(number);
  const std::size_t end = std::min(std::size_t(std::max(where.column - 1, 0)), all.size());
  int units = 0;
  for (std::size_t at = 0; at < end;) {
    const std::size_t bytes = bytes_of_character(static_cast<unsigned char>(all[at]));
    units += bytes == 4 ? 2 : 1;
    at += bytes;
  }
  return {{"line", number - 1}, {"character", units}};
}

LspJson TextDocument::range_of(const TextSpan& span) const {
  return {{"start", position_of(span.begin)}, {"end", position_of(span.end)}};
}

LspJson TextDocument::range_of_word(Location where) const {
  if (where.line < 1) return range_of({{1, 1}, {1, int(line(1).size()) + 1}});  // a message about the entire text
  const std::string_view all = line(where.line);
  const std::size_t begin = std::min(std::size_t(std::max(where.column - 1, 0)), all.size());
  std::size_t end = begin;
  while (end < all.size() && is_in_name(all[end])) ++end;
  if (end == begin && end < all.size()) end += bytes_of_character(static_cast<unsigned char>(all[end]));
  return range_of({{where.line, int(begin) + 1}, {where.line, int(std::min(end, all.size())) + 1}});
}

LspJson TextDocument::range_of_all() const { return range_of({{1, 1}, {lines(), int(line(lines()).size()) + 1}}); }

std::size_t TextDocument::offset_of(Location where) const {
  const int number = std::clamp(where.line, 1, lines());
  return std::min(starts_[std::size_t(number - 1)] + std::size_t(std::max(where.column - 1, 0)), text_.size());
}

Location TextDocument::location_at(std::size_t offset) const {
  const auto next = std::ranges::upper_bound(starts_, offset);
  return {int(next - starts_.begin()), int(offset - *(next - 1)) + 1};
}

std::optional<TextWord> TextDocument::word_at(Location where) const {
  const std::string_view all = line(where.line);
  std::size_t begin = std::min(std::size_t(std::max(where.column - 1, 0)), all.size()), end = begin;
  while (begin > 0 && is_in_name(all[begin - 1])) --begin;
  while (end < all.size() && is_in_name(all[end])) ++end;
  if (begin == end || !begins_name(all[begin])) return std::nullopt;
  return TextWord{{where.line, int(begin) + 1}, all.substr(begin, end - begin)};
}

bool TextDocument::is_in_directive(int number) const {
  while (number > 1 && line(number - 1).ends_with('\\')) --number;
  const std::size_t first = line(number).find_first_not_of(" \t");
  return first != std::string_view::npos && line(number)[first] == '#';
}

bool TextDocument::is_in_comment(std::size_t offset) const {
  const auto next = std::ranges::lower_bound(comments_, offset, {}, &std::pair<std::size_t, std::size_t>::first);
  if (next == comments_.begin()) return false;
  const auto& [begin, end] = *std::prev(next);
  // The end of a line is in its comment, so that nothing is completed there.
  return offset < end || (offset == end && text_[begin + 1] == '/');
}

std::string TextDocument::comment_of_line(int number) const {
  const std::size_t begin = offset_of({number, 1}), end = begin + line(number).size();
  for (const auto& [first, last] : comments_) {
    if (first < begin || first >= end || text_[first + 1] != '/') continue;
    std::string_view comment = std::string_view(text_).substr(first + 2, last - first - 2);
    while (!comment.empty() && (comment.front() == ' ' || comment.front() == '/')) comment.remove_prefix(1);
    while (!comment.empty() && (comment.back() == ' ' || comment.back() == '\r')) comment.remove_suffix(1);
    return std::string(comment);
  }
  return "";
}

std::string TextDocument::units() const {
  std::string result;
  for (int number = 1; number <= lines() && line(number).starts_with("//"); ++number) {
    const std::string comment = comment_of_line(number);
    if (comment.starts_with("Units:"))
      result = comment;
    else if (!result.empty() && comment.find(':') != std::string::npos)
      break;
    else if (!result.empty() && !result.ends_with('.'))
      result += " " + comment;
  }
  return result;
}

}  // namespace nbcc
