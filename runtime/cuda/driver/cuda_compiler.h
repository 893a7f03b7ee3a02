// The interface of the compiler that the CUDA device uses: CUDA source -> cubin or PTX. libnbcc opens NVRTC at run
// time; the tests have a compiler that compiles the same source for the CPU. Tested by
// tests/unit/runtime/cuda/driver/cuda_compiler_test.cpp.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

struct CudaCode {
  std::string image;  // cubin or PTX
  // Per thread of nbcc_interact, from the report of ptxas. 0 for PTX and if the report does not contain the number.
  int registers = 0, spilled_bytes = 0;
  std::string log = {};  // warnings, and the report of ptxas
  std::string ptx = {};  // with Form::Cubin: what Form::Ptx gives; "" if the compiler does not give both
};

struct CudaCompiler {
  virtual ~CudaCompiler() = default;
  // Names everything besides source, architecture and configuration that the output of compile() depends on: "NVRTC
  // 13.0".
  virtual std::string identity() const = 0;
  // True if compile() returns code that was compiled before, which it finds by the source as it was emitted.
  virtual bool holds_code() const { return false; }
  // The file of the compiler's library; "" if there is no file.
  virtual std::string path() const { return {}; }
  // The CUDA version, numbered as drivers number theirs: 13000 is CUDA 13.0. A driver of an earlier major version (less
  // than version() / 1000 * 1000) cannot load the output of compile(); all drivers of one major version load its
  // cubins. 0: every driver loads the output.
  virtual int version() const { return 0; }
  // The architectures that compile() accepts ("sm_75", ...), in ascending order.
  virtual std::vector<std::string> architectures() const = 0;
  enum class Form { Cubin, Ptx };
  // Zeros of `config` keep the defaults of the source. Throws SourceRejected with the log if the compiler rejects the
  // source, DeviceError for an architecture that the compiler does not know. On several threads at once.
  virtual CudaCode compile(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                           Form form = Form::Cubin) const = 0;
};

// "sm_90" -> 90, "sm_120a" -> 120: compute capability, major * 10 + minor.
int number_of_architecture(const std::string& name);
// 13010 -> "13.1"
std::string cuda_version_text(int version);

// Opens NVRTC. Searches CUDA toolkits ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda, /opt/cuda), the dynamic loader's search
// path, and the folders of NVIDIA's pip wheels. Throws DeviceError that lists the locations searched.
std::shared_ptr<const CudaCompiler> make_nvrtc();

}  // namespace nbcc
