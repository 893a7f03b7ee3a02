// What the CUDA device needs of a compiler: text in, cubin or PTX out. libnbcc's own is NVRTC, opened at run time; the
// tests bring one that compiles the same text for the CPU.
// Tested by tests/unit/cuda_compiler_test.cpp.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

struct CudaCode {
  std::string image;  // cubin or PTX
  // From the assembler's report on nbcc_interact; a cubin's only. 0 where it does not say.
  int registers = 0, spilled_bytes = 0;
  std::string log = {};  // warnings, and that report
};

struct CudaCompiler {
  virtual ~CudaCompiler() = default;
  // Names everything besides text, architecture and configuration that decides what compile() makes: "NVRTC 13.0".
  virtual std::string identity() const = 0;
  // The library's file; "" if it has none.
  virtual std::string path() const { return {}; }
  // 13000: of CUDA 13.0, counted as drivers count theirs. A driver of an earlier major version (less than version() /
  // 1000 * 1000) cannot load what compile() makes; within one major version cubins load in every driver. 0: in all.
  virtual int version() const { return 0; }
  // "sm_75", ...: what compile() takes, in ascending order.
  virtual std::vector<std::string> architectures() const = 0;
  enum class Form { Cubin, Ptx };
  // Zeros of `config` leave what the text says. Throws TextRefused with the log if the text is refused, DeviceError for
  // an architecture that it does not know.
  virtual CudaCode compile(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                           Form form = Form::Cubin) const = 0;
};

// "sm_90" -> 90, "sm_120a" -> 120: generation and step.
int number_of_architecture(const std::string& name);
// 13010 -> "13.1"
std::string cuda_version_text(int version);

// NVRTC, looked for beside a CUDA toolkit ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda, /opt/cuda), by the loader's own
// rules, and in the folders of NVIDIA's pip wheels. Throws DeviceError that lists the places looked at.
std::shared_ptr<const CudaCompiler> make_nvrtc();

}  // namespace nbcc
