// Finds the NVIDIA GPUs and the NVRTC compiler that this process can use, or the reason why there are none.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace nbcc {

struct Gpu {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::size_t bytes = 0;     // of device memory
  std::string architecture() const { return "sm_" + std::to_string(major) + std::to_string(minor); }
};

struct Gpus {
  std::vector<Gpu> list;   // [device ordinal]
  int driver_version = 0;  // 13000: for CUDA 13.0; 0: no driver
  std::string problem;     // why the list is empty
};

// Initialises the CUDA driver if there is one. Creates no context.
Gpus find_gpus();

struct Nvrtc {
  int version = 0;  // 13000: of CUDA 13.0; 0: none
  std::string path;
  std::vector<std::string> architectures;
  std::string problem;  // why there is none; the searched paths follow after its first line
};

Nvrtc find_nvrtc();

}  // namespace nbcc
