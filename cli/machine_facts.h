// What sums need and this machine has: found out, not judged. doctor.h says what follows.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/find_gpus.h"
#include "compiler/isa.h"
#include "runtime/cache/own_folder.h"

namespace nbcc {

// A way to use nbcc other than the command.
struct Interface {
  std::string name;     // "Python"
  std::string place;    // a file or a folder; "" if it is not here
  std::string problem;  // why it is not, where somebody said so
};

struct MachineFacts {
  std::string version, toolchain;
  Isa isa{};
  int threads = 0;
  std::string cpu_sum;  // why a small sum on the CPU failed; "" if it is right
  std::string glibc;    // its version
  std::string vectors;  // the file of glibc's vector functions (libmvec); "" if there is none
  std::string cache;    // its folder
  OwnFolder::Trouble cache_trouble;
  std::int64_t kernels = 0, kernel_bytes = 0;  // kept there
  Gpus gpus;
  std::vector<std::string> gpu_sums;  // by ordinal, as cpu_sum
  Nvrtc nvrtc;
  std::string mpi_library, mpi_version;  // the file of libnbcc_mpi and what its MPI calls itself; "" if there is none
  std::string mpi_problem;               // why libnbcc_mpi does not load
  std::vector<Interface> interfaces;
};

// Compiles a small sum for each device and runs it; takes about a second, and some for each GPU. Writes nothing on
// disk.
MachineFacts find_facts();

// 1 + 2 + 3 by a kernel that is compiled now: "" if it gives 6, else what went wrong.
std::string try_sum(const std::string& device);

}  // namespace nbcc
