// Writes the C header of a compiled library and the C source of the functions that it declares. Interfaces for other
// languages and programs are language bindings; this folder defines their type, the folders of bindings/ contain them.
// Tested by tests/unit/jit/library_text_test.cpp; tests/library compiles and runs all of them.
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

// The code of a variant of a derived kernel: functions SYMBOL_prepare_i and so on.
struct LibraryCode {
  Isa isa;
  std::string source;  // KernelVariant::source in the description
  std::string symbol;
};

struct LibraryPipeline {
  Source source;
  Pipeline pipeline;
  KernelSource cuda;
  Signature signature;
  std::vector<LibraryCode> codes;  // of derived kernels, once they are compiled
};

struct LibraryText {
  std::string name;           // "forces" for libforces.so
  std::string made;           // "nbcc 0.1.0 from gravity.pipe (single precision, fast math)"
  std::string cxx_namespace;  // may be nested: "a::b"
  std::string module;         // name of the Fortran module
  std::vector<LibraryPipeline> pipelines;
  // Additions of bindings to the common files.
  std::vector<std::string> more_functions;  // names of functions
  std::string more_prototypes;              // for the C header
  std::string more_source;                  // C source, after the pipelines' functions
  std::string more_interfaces;              // for the Fortran module
};

// An additional file for users of a library, such as a C++ header or a Fortran module.
struct LanguageBinding {
  std::string file;  // "forces.hpp"
  // Returns the contents of the file. Throws CompileError or UsageError for pipelines that the language or interface
  // does not support. Called before anything is compiled.
  std::function<std::string(const LibraryText&)> write;
  // Makes the binding's additions; called before any file is written. Null: no additions.
  std::function<void(LibraryText&)> extend = nullptr;
};

LibraryPipeline library_pipeline(const Source& source, const Options& options);

std::string c_header(const LibraryText& library);

// Includes "NAME.h" and "nbcc_image.h"; embeds "PIPELINE.image" for each pipeline; refers to the kernels' functions by
// kernel_prefix().
std::string library_source(const LibraryText& library, const std::vector<Isa>& isas);
std::string kernel_prefix(const std::string& pipeline, Isa isa);

// Prefix of the names of the sections that contain the descriptions of pipelines.
constexpr const char* kImageSectionPrefix = ".nbcc.";

// For comments in every language. title(): the first line of the pipeline's description, or its name. documentation():
// the lines of the description, and of a table of the arguments, whose names `in_table` writes.
std::string title(const Signature& signature);
std::vector<std::string> documentation(const Signature& signature,
                                       const std::function<std::string(const Argument&)>& in_table);

// Makes text safe inside a C comment: separates the characters of the sequences that begin and end comments.
std::string inside_comment(std::string text);

// Joins `words` with commas, wrapped to 120 columns; continuation lines are indented.
std::string wrapped(const std::string& begin, const std::vector<std::string>& words, const std::string& end,
                    const std::string& indent, const std::string& line_end = "");

std::string capitals(std::string name);

}  // namespace nbcc
