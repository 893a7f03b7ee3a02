// What a compiled library is used by: its headers for C and C++, its module for Fortran, and the C text of the
// functions that they declare. Each language is one file, callers_<language>.cpp. Tested by
// tests/unit/callers_test.cpp; tests/library compiles and runs all of them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/options.h"
#include "compiler/text/source.h"
#include "jit/signature.h"

namespace nbcc {

// Rows of numbers that CUNBODY-1's cunbody_api() takes and fills: how long they are.
struct CunbodyApi {
  int idim = 0, jdim = 0, fdim = 0;
  // Whether they may be those of gravity with a softening length, which force() stands for.
  bool has_force() const { return idim == 4 && jdim == 4 && fdim == 3; }
};

struct LibraryText {
  std::string name;           // "forces", of libforces.so
  std::string made;           // "nbcc 0.1.0 from gravity.pipe (single precision, fast math)"
  std::string cxx_namespace;  // also "a::b"
  std::string module;         // Fortran's
  std::vector<Signature> signatures;
  std::optional<CunbodyApi> cunbody;  // of a library of one pipeline that has this interface as well
};

std::string c_header(const LibraryText& library);
std::string cpp_header(const LibraryText& library);
std::string fortran_module(const LibraryText& library);

// Includes "NAME.h" and "nbcc_image.h"; embeds "PIPELINE.image" for each pipeline; refers to the kernels' functions by
// kernel_prefix().
std::string library_source(const LibraryText& library, const std::vector<Isa>& isas);
std::string kernel_prefix(const std::string& pipeline, Isa isa);

// Throws CompileError, which names the fields that do not fit and what is expected in their place.
CunbodyApi cunbody_of(const Source& source, const Pipeline& pipeline);
// Throws UsageError where a function of the pipeline would be called as one of CUNBODY-1's.
void check_cunbody_names(const std::string& pipeline);
std::vector<std::string> cunbody_names();
// The text of cunbody_api.h, which the library's own headers do not include. The others are parts of library_source(),
// c_header() and fortran_module(); library.cunbody is there in all of them.
std::string cunbody_header(const LibraryText& library);
std::string cunbody_source(const LibraryText& library);
std::string cunbody_prototypes(const LibraryText& library);
std::string cunbody_interfaces(const LibraryText& library);

// Text behind which nothing of C is hidden and in which no comment ends too early.
std::string inside_comment(std::string text);

// The section of the library that a pipeline's description stands in.
constexpr const char* kImageSectionPrefix = ".nbcc.";

// `words` as a line, or as many as are needed to stay within 120 columns; the following lines are indented.
std::string wrapped(const std::string& begin, const std::vector<std::string>& words, const std::string& end,
                    const std::string& indent, const std::string& line_end = "");

}  // namespace nbcc
