// NVRTC for hand-written kernels, with the options that their author chooses: the library's own compiler has those of
// generated text.
#pragma once
#include <string>
#include <vector>

namespace nbcc::bench {

struct HandCode {
  std::string image;  // cubin
  int registers = 0, spilled_bytes = 0;
};

class HandCompiler {
 public:
  HandCompiler();  // throws std::runtime_error, and DeviceError if there is no NVRTC

  std::string version() const;  // "13.0"
  // `entry`: the kernel whose registers are reported. Throws std::runtime_error with the log.
  HandCode compile(const std::string& text, const std::string& entry, const std::string& architecture,
                   const std::vector<std::string>& options) const;

  struct Functions;

 private:
  const Functions* nvrtc_;
};

}  // namespace nbcc::bench
