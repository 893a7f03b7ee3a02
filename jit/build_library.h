// Pipelines' texts -> a library with their kernels, and the files that it is used by.
// Tested by tests/unit/build_library_test.cpp and tests/library.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "jit/library_text.h"
#include "runtime/cuda/cuda_compiler.h"

namespace nbcc {

struct LibraryRequest {
  std::vector<Source> sources;
  Options options;
  std::vector<LanguageBinding> bindings;              // what it has beside the functions of C
  std::string file_name = "libpipelines.so";          // what the library's file will be called; without a folder
  bool is_static = false;                             // an archive, else a shared library
  std::vector<Isa> isas;                              // at least one
  std::vector<std::string> architectures;             // of GPUs: "sm_90"
  std::shared_ptr<const CudaCompiler> cuda_compiler;  // null if there are no architectures
  std::string cxx_namespace;                          // empty: the library's name
  std::vector<std::string> rpath;
};

struct LibraryFiles {
  std::string library;                       // the contents of its file
  std::map<std::string, std::string> texts;  // the other files: NAME.h and those of the bindings, by name
};

// The same request gives the same bytes (with the same nbcc, NVRTC and C library). Throws CompileError, UsageError for
// names and choices that do not go together, DeviceError for an architecture that the compiler does not know.
LibraryFiles build_library(const LibraryRequest& request);

// "forces" of "libforces.so", "forces.so", "libforces.a"; what is no letter, digit or '_' becomes '_', and a
// digit does not come first.
std::string library_name(const std::string& file_name);

// What the library asks the loader for.
constexpr const char* kRuntimeSoname = "libnbcc_runtime.so.0";

}  // namespace nbcc
