// The options that several subcommands share: for which device a pipeline is compiled, and how.
#pragma once
#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/options.h"
#include "compiler/target.h"

namespace nbcc {

struct KernelChoice {
  std::string device = "cpu";  // or "cuda", "cuda:N"
  std::string precision = "single";
  std::string math = "fast";
  std::string root = "refined";
  std::string isa;                          // empty: the best of this machine
  int threads = 0;                          // 0: all cores
  std::optional<std::string> cache_folder;  // not an option; "" for none
};

// --precision, --math, --root
void declare_arithmetic(CLI::App& app, KernelChoice& choice);
// The same and --isa.
void declare_compile_options(CLI::App& app, KernelChoice& choice);
// All of these, --device and --threads.
void declare_kernel_options(CLI::App& app, KernelChoice& choice);
// --device, --precision, --math, --root: for what concerns GPUs alone.
void declare_gpu_options(CLI::App& app, KernelChoice& choice);
// --n, --ni, --param: of which sums times are taken.
void declare_sizes(CLI::App& app, std::string& counts, std::string& count_i, std::vector<std::string>& params);

// What the compiler calls them. The words have been checked while the command line was read.
Options compiler_options(const KernelChoice& choice);
Isa compiler_isa(const KernelChoice& choice);
Target compiler_target(const KernelChoice& choice);

// "single precision, fast math": for messages.
std::string describe(const KernelChoice& choice);

}  // namespace nbcc
