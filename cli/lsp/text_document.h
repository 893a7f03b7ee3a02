// The text of an open file, with the positions of the protocol (lines and UTF-16 units from 0) and those of the
// compiler (lines and bytes from 1), and its words.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/lsp/json_rpc.h"
#include "compiler/editing/names.h"
#include "compiler/text/source.h"

namespace nbcc {

// A word outside of comments.
struct TextWord {
  Location where;
  std::string_view word;
};

class TextDocument {
 public:
  explicit TextDocument(std::string text);
  TextDocument(const TextDocument&) = delete;  // its words point into its text
  TextDocument& operator=(const TextDocument&) = delete;

  const std::string& text() const { return text_; }
  int lines() const { return int(starts_.size()); }
  std::string_view line(int number) const;  // from 1, without its line break

  // Positions outside of the text are moved to its nearest end.
  Location location_of(const LspJson& position) const;
  LspJson position_of(Location where) const;
  LspJson range_of(const TextSpan& span) const;
  LspJson range_of_word(Location where) const;  // of the word, or of the one character, that begins there
  LspJson range_of_all() const;

  std::size_t offset_of(Location where) const;
  Location location_at(std::size_t offset) const;
  // The word that contains the location or ends there, in comments too.
  std::optional<TextWord> word_at(Location where) const;
  const std::vector<TextWord>& words() const { return words_; }
  // True for the lines of `#define` and the like, with those that a backslash joins to them.
  bool is_in_directive(int number) const;
  bool is_in_comment(std::size_t offset) const;
  // The `//` comment at the end of the line, without its slashes; "" if there is none.
  std::string comment_of_line(int number) const;
  // The sentence of the comments at the head of the text that begins with "Units:"; "" if there is none.
  std::string units() const;

 private:
  void find_words();
  std::string text_;
  std::vector<std::size_t> starts_;  // of lines
  std::vector<TextWord> words_;
  std::vector<std::pair<std::size_t, std::size_t>> comments_;  // begin, end
};

}  // namespace nbcc
