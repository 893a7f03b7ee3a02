// Which of NVIDIA's GPUs this process can use, and which compiler for them; or why there is none.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace nbcc {

struct Gpu {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::size_t bytes = 0;     // of memory
  std::string architecture() const { return "sm_" + std::to_string(major) + std::to_string(minor); }
};

struct Gpus {
  std::vector<Gpu> list;   // by ordinal
  int driver_version = 0;  // 13000: for CUDA 13.0; 0: no driver
  std::string problem;     // why there are none
};

// Starts the driver, if it is there, and makes no context.
Gpus find_gpus();

struct Nvrtc {
  int version = 0;  // 13000: of CUDA 13.0; 0: none
  std::string path;
  std::vector<std::string> architectures;
  std::string problem;  // why there is none; its first line without the places looked at
};

Nvrtc find_nvrtc();

}  // namespace nbcc
