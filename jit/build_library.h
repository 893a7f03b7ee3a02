// Compiles pipelines to a library with their kernels, and writes headers and modules for the library's users.
// Tested by tests/unit/jit/build_library_test.cpp and tests/library.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "jit/library_text.h"
#include "runtime/cuda/driver/cuda_compiler.h"

namespace nbcc {

struct LibraryRequest {
  std::vector<Source> sources;
  Options options;
  std::vector<LanguageBinding> bindings;              // interfaces in addition to C
  std::string file_name = "libpipelines.so";          // of the library, without a folder
  bool is_static = false;                             // true: an archive; false: a shared library
  std::vector<Isa> isas;                              // at least one
  std::vector<std::string> with;                      // StorableRow::choice: kernels besides those of the pipelines
  std::vector<std::string> architectures;             // of GPUs: "sm_90"
  std::shared_ptr<const CudaCompiler> cuda_compiler;  // null if there are no architectures
  std::string cxx_namespace;                          // empty: the name of the library
  std::vector<std::string> rpath;
};

struct LibraryFiles {
  std::string library;                       // contents of the library file
  std::map<std::string, std::string> texts;  // file name -> contents: NAME.h and the files of the bindings
};

// Deterministic: the same request gives the same bytes (with the same nbcc, NVRTC and C library). Throws CompileError,
// UsageError for names and options that cannot be combined, DeviceError for an architecture unknown to NVRTC.
LibraryFiles build_library(const LibraryRequest& request);

// "forces" for "libforces.so", "forces.so", "libforces.a". Characters other than letters, digits and '_' become '_'; a
// name that would begin with a digit gets the prefix "lib".
std::string library_name(const std::string& file_name);

// The soname of the runtime, which a shared library needs (DT_NEEDED).
constexpr const char* kRuntimeSoname = "libnbcc_runtime.so.0";

}  // namespace nbcc
