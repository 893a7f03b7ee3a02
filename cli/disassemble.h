// Machine code of NVIDIA's GPUs as text, by the toolkit's own programs.
#pragma once
#include <string>

namespace nbcc {

// Throws DeviceError when neither nvdisasm nor cuobjdump is found (it says where they were looked for), or the one that
// was does not read the cubin.
std::string disassemble(const std::string& cubin);

}  // namespace nbcc
