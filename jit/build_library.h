// Pipelines' texts -> a library with their kernels and the files that it is used by.
// Tested by tests/unit/build_library_test.cpp and tests/library.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/options.h"
#include "compiler/text/source.h"
#include "jit/callers_fdps.h"
#include "runtime/cuda/cuda_compiler.h"

namespace nbcc {

// Functions that a library has besides those of its pipelines' own fields.
enum class Api : std::uint8_t {
  Fields,   // none
  Cunbody,  // CUNBODY-1's, of one pipeline in its dialect
  Fdps,     // functors for FDPS
};

struct LibraryRequest {
  std::vector<Source> sources;
  Options options;
  Api api = Api::Fields;
  ClassMap class_map;                                 // of Api::Fdps
  std::string file_name = "libpipelines.so";          // what the library's file will be called; without a folder
  bool is_static = false;                             // an archive, else a shared library
  std::vector<Isa> isas;                              // at least one
  std::vector<std::string> architectures;             // of GPUs: "sm_90"
  std::shared_ptr<const CudaCompiler> cuda_compiler;  // null if there are no architectures
  std::string cxx_namespace;                          // empty: the library's name
  bool for_fortran = false;                           // whether names must suit it as well
  std::vector<std::string> rpath;
};

struct LibraryFiles {
  std::string name;     // "forces" of libforces.so: what the other files are called
  std::string library;  // all of these are the files' contents
  std::string c_header, cpp_header, fortran_module;
  std::string cunbody_header;  // cunbody_api.h, of Api::Cunbody
  std::string fdps_header;     // NAME_fdps.hpp, of Api::Fdps
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
