// What a compiled library is used by: its headers for C and C++, its module for Fortran, and the C text of the
// functions that they declare. Each language is one file, callers_<language>.cpp. Tested by
// tests/unit/callers_test.cpp; tests/library compiles and runs all of them.
#pragma once
#include <string>
#include <vector>

#include "compiler/options.h"
#include "jit/signature.h"

namespace nbcc {

struct LibraryText {
  std::string name;           // "forces", of libforces.so
  std::string made;           // "nbcc 0.1.0 from gravity.pipe (single precision, fast math)"
  std::string cxx_namespace;  // also "a::b"
  std::string module;         // Fortran's
  std::vector<Signature> signatures;
};

std::string c_header(const LibraryText& library);
std::string cpp_header(const LibraryText& library);
std::string fortran_module(const LibraryText& library);

// Includes "NAME.h" and "nbcc_image.h"; embeds "PIPELINE.image" for each pipeline; refers to the kernels' functions by
// kernel_prefix().
std::string library_source(const LibraryText& library, const std::vector<Isa>& isas);
std::string kernel_prefix(const std::string& pipeline, Isa isa);

// The section of the library that a pipeline's description stands in.
constexpr const char* kImageSectionPrefix = ".nbcc.";

// `words` as a line, or as many as are needed to stay within 120 columns; the following lines are indented.
std::string wrapped(const std::string& begin, const std::vector<std::string>& words, const std::string& end,
                    const std::string& indent, const std::string& line_end = "");

}  // namespace nbcc
