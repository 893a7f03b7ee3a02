// The parts of make_nvrtc() (runtime/cuda/cuda_compiler.h): where NVRTC is looked for, opening it, reading its report.
// Tested by tests/unit/cuda_compiler_test.cpp.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda/cuda_compiler.h"

namespace nbcc {

struct LibraryPlace {
  std::string name;                  // for people: "$CUDA_HOME (not set)"
  std::vector<std::string> folders;  // that are there; "" stands for the loader's own rules
};

// Where NVRTC may be, the place to prefer first.
std::vector<LibraryPlace> nvrtc_places();

// NVIDIA's wheels in the folder of Python packages that a file is in, be that environment active or not.
LibraryPlace wheels_beside(const std::string& file);

// The newest NVRTC of the first place that has one which opens. Throws DeviceError that names every place, and what was
// wrong with those that were found.
std::shared_ptr<const CudaCompiler> open_nvrtc(const std::vector<LibraryPlace>& places);

// Fills in registers and spilled_bytes from what --ptxas-options=-v says of nbcc_interact.
void read_assembler_report(std::string_view log, CudaCode& code);

}  // namespace nbcc
