// This folder reads files, renders diagnostics and fills templates, for the entire compiler. This file: a path -> a
// pipeline's text with its path, or SourceUnreadable. parse() checks the text.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nbcc {

// A location in the user's text, line and column from 1; line 0 means the entire file.
struct Location {
  int line = 0;
  int column = 0;
  bool operator==(const Location&) const = default;
};

struct Source {
  std::string path;  // as the user named it; appears in diagnostics
  std::string text;
  // The pipeline's name: the file's name without folder and extension, as a C identifier.
  std::string name() const;
  // The text of one line (from 1), without its line break; empty beyond the end.
  std::string_view line(int number) const;
};

// The file cannot be read (missing, a folder, no permission): an error of usage or I/O, not of the text.
struct SourceUnreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
  ~SourceUnreadable() override;
};

// Reads a file. A word without folder and ending that is no file, as `gravity`, names a pipeline of the library
// (pipeline_library.h). Throws SourceUnreadable. The size limit is checked by `prescan`, so that it is a diagnostic.
Source read_source(const std::string& path);

}  // namespace nbcc
