// The steps of make_nvrtc() (runtime/cuda/driver/cuda_compiler.h): finding NVRTC, opening it, reading the report of
// ptxas. Tested by tests/unit/runtime/cuda/driver/cuda_compiler_test.cpp.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda/driver/cuda_compiler.h"

namespace nbcc {

struct LibraryLocation {
  std::string name;                  // for messages: "$CUDA_HOME (not set)"
  std::vector<std::string> folders;  // existing folders; "" means the dynamic loader's search path
};

// Locations where NVRTC may be, in order of preference.
std::vector<LibraryLocation> nvrtc_locations();

// NVIDIA's wheels in the folder of Python packages that contains `file`, even if that environment is not active.
LibraryLocation wheels_beside(const std::string& file);

// The newest NVRTC of the first location that has a usable one. Throws DeviceError that lists every location, and the
// problems of the libraries that were found.
std::shared_ptr<const CudaCompiler> open_nvrtc(const std::vector<LibraryLocation>& locations);

// Sets registers and spilled_bytes from the output of --ptxas-options=-v for nbcc_interact.
void read_assembler_report(std::string_view log, CudaCode& code);

}  // namespace nbcc
