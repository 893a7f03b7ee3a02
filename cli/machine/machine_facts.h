// Collects facts about this machine and installation that matter to sums. doctor.h evaluates them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/machine/find_gpus.h"
#include "compiler/isa.h"
#include "runtime/cache/own_folder.h"

namespace nbcc {

// A way to use nbcc other than the command.
struct Interface {
  std::string name;     // "Python package"
  std::string path;     // path of its file or folder; "" if it is not installed
  std::string problem;  // why it is not available, if known
};

struct MachineFacts {
  std::string version, toolchain;
  Isa isa{};
  int threads = 0;
  std::string cpu_sum;  // why a small sum on the CPU failed; "" if it succeeded
  std::string glibc;    // its version
  std::string cache;    // the folder of the disk cache
  OwnFolder::Trouble cache_trouble;
  std::int64_t kernels = 0, kernel_bytes = 0;  // in the disk cache
  std::string shared_cache;                    // the folder that NBCC_SHARED_CACHE_DIR names; "" if it is not set
  OwnFolder::Trouble shared_cache_trouble;
  std::int64_t shared_kernels = 0;
  Gpus gpus;
  std::vector<std::string> gpu_sums;  // [device ordinal] like cpu_sum
  Nvrtc nvrtc;
  std::string mpi_library, mpi_version;  // the file of libnbcc_mpi and the version string of its MPI; "" if none
  std::string mpi_problem;               // why libnbcc_mpi cannot be loaded
  std::vector<Interface> interfaces;
};

// Compiles and runs a small sum on each device; takes about a second, plus some seconds for each GPU. Writes nothing to
// disk.
MachineFacts find_facts();

// Computes 1 + 2 + 3 with a newly compiled kernel. Returns "" if the result is 6, else the problem.
std::string try_sum(const std::string& device);

}  // namespace nbcc
