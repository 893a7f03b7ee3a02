// Asks each library for its version; those that have no function for it have macros. Entry point: versions(). What
// this machine has besides is in command_info.cpp.
#include "cli/machine/versions.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <hdf5.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/machine/find_gpus.h"
#include "compiler/isa.h"
#include "jit/cpu_jit.h"
#include "runtime/api/nbcc.h"
#include "runtime/cuda/driver/cuda_compiler.h"

// Defined in the Python wheel alone, which is linked with an older glibc than the one whose headers were compiled.
extern "C" const char wheel_glibc[] __attribute__((weak));

namespace nbcc {
namespace {

using Json = nlohmann::ordered_json;

// The version of a number like 90100 or, with decimal digits in pairs, 801: "9.1.0", "0.8.1".
std::string dotted(unsigned number) {
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

// The compiler's identity is "clang 19.1.7 OPTIONS".
std::string llvm_version() {
  std::istringstream words(make_cpu_toolchain()->identity());
  std::string clang, version;
  words >> clang >> version;
  return version;
}

}  // namespace

Json versions() {
  Json sets = Json::array();
  for (const IsaFacts& isa : kIsas) sets.push_back(isa.name);
  const Nvrtc nvrtc = find_nvrtc();
  const std::string linked = wheel_glibc ? wheel_glibc : fmt::format("{}.{}", __GLIBC__, __GLIBC_MINOR__);
  return {{"version", nbcc_version()},
          {"llvm", llvm_version()},
          {"instruction_sets", sets},
          {"nvrtc", nvrtc.version == 0 ? Json() : Json(cuda_version_text(nvrtc.version))},
          {"glibc", {{"linked", linked}, {"running", gnu_get_libc_version()}}},
          {"libraries",
           {{"fmt", dotted(FMT_VERSION)},
            {"hdf5", hdf5_version()},
            {"zlib", zlibVersion()},
            {"zstd", ZSTD_versionString()},
            {"xxhash", dotted(XXH_versionNumber())},
            {"cli11", CLI11_VERSION},
            {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                          NLOHMANN_JSON_VERSION_PATCH)}}}};
}

}  // namespace nbcc
