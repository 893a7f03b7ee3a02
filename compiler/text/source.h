// This folder turns paths into texts, mistakes into diagnostics and templates into texts, for all of the compiler.
// Here: a path -> a pipeline's text and where it came from, or SourceUnreadable. What the text says is judged by
// parse().
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nbcc {

// A place in the user's text, both counted from 1; line 0 means "the file as a whole".
struct Location {
  int line = 0;
  int column = 0;
  bool operator==(const Location&) const = default;
};

struct Source {
  std::string path;  // as the user named it; appears in diagnostics
  std::string text;
  // The pipeline's name: the file's name without folder and ending, as a C identifier.
  std::string name() const;
  // The text of one line (from 1), without its line break; empty beyond the end.
  std::string_view line(int number) const;
};

// The file cannot be read at all (missing, a folder, no permission): usage or I/O, not an error in the text.
struct SourceUnreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
  ~SourceUnreadable() override;
};

// Reads a whole file. Throws SourceUnreadable. The size limit is checked by `prescan`, so that it is a diagnostic.
Source read_source(const std::string& path);

}  // namespace nbcc
