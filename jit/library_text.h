// The pipelines of a compiled library -> its header for C, and the C text of the functions that this declares. What
// other languages and other programs' interfaces need beside it are language bindings, of which this room knows only
// their form (the folders of bindings/ hold them). Tested by tests/unit/library_text_test.cpp; tests/library compiles
// and runs all of them.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/isa.h"
#include "compiler/options.h"
#include "compiler/text/source.h"
#include "jit/signature.h"

namespace nbcc {

struct LibraryPipeline {
  Source source;
  Pipeline pipeline;
  KernelSource cuda;
  Signature signature;
};

struct LibraryText {
  std::string name;           // "forces", of libforces.so
  std::string made;           // "nbcc 0.1.0 from gravity.pipe (single precision, fast math)"
  std::string cxx_namespace;  // also "a::b"
  std::string module;         // Fortran's
  std::vector<LibraryPipeline> pipelines;
  // What a binding adds to files that are not its own.
  std::vector<std::string> more_functions;  // names
  std::string more_prototypes;              // in the header for C
  std::string more_source;                  // behind the pipelines' functions
  std::string more_interfaces;              // in the module for Fortran
};

// One file that a library is used by, beside the header for C.
struct LanguageBinding {
  std::string file;  // "forces.hpp"
  // Throws CompileError or UsageError for pipelines that the language or interface cannot have. Nothing has been
  // compiled then.
  std::function<std::string(const LibraryText&)> write;
  // Before any file is written; null where there is nothing to add.
  std::function<void(LibraryText&)> extend = nullptr;
};

LibraryPipeline library_pipeline(const Source& source, const Options& options);

std::string c_header(const LibraryText& library);

// Includes "NAME.h" and "nbcc_image.h"; embeds "PIPELINE.image" for each pipeline; refers to the kernels' functions by
// kernel_prefix().
std::string library_source(const LibraryText& library, const std::vector<Isa>& isas);
std::string kernel_prefix(const std::string& pipeline, Isa isa);

// The section of the library that a pipeline's description stands in.
constexpr const char* kImageSectionPrefix = ".nbcc.";

// For the text of every language: the first line of what the pipeline says of itself, or its name; that description and
// a table of the arguments, as `in_table` writes them, line by line.
std::string title(const Signature& signature);
std::vector<std::string> documentation(const Signature& signature,
                                       const std::function<std::string(const Argument&)>& in_table);

// Text behind which nothing of C is hidden and in which no comment ends too early.
std::string inside_comment(std::string text);

// `words` as a line, or as many as are needed to stay within 120 columns; the following lines are indented.
std::string wrapped(const std::string& begin, const std::vector<std::string>& words, const std::string& end,
                    const std::string& indent, const std::string& line_end = "");

std::string capitals(std::string name);

}  // namespace nbcc
