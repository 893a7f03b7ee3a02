// The options that several subcommands share: for which device a pipeline is compiled, and how; of which sums times are
// taken.
#pragma once
#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/isa.h"
#include "compiler/options.h"
#include "compiler/target.h"
#include "particles/files/param_value.h"
#include "runtime/sum/sum_request.h"

namespace nbcc {

struct KernelChoice {
  std::string device = "cpu";  // or "cuda", "cuda:N"
  Options options;
  std::optional<Isa> isa{};  // none: the best of this machine
  int threads = 0;           // 0: all cores
  PairChoice pairs = PairChoice::Auto;
  bool clamp = false;                         // indices that lead out of a table find its nearest end
  std::optional<std::string> cache_folder{};  // not an option; "" for none
};

// --precision, --math, --root
void declare_arithmetic(CLI::App& app, KernelChoice& choice);
// The same and --isa.
void declare_compile_options(CLI::App& app, KernelChoice& choice);
// All of these, --device, --pairs, --clamp and --threads.
void declare_kernel_options(CLI::App& app, KernelChoice& choice);
// --device
void declare_device(CLI::App& app, KernelChoice& choice);
// --threads
void declare_threads(CLI::App& app, KernelChoice& choice);
// --device, --precision, --math, --root: for what concerns GPUs alone.
void declare_gpu_options(CLI::App& app, KernelChoice& choice);

// --param, whose words parse_params() takes.
void declare_params(CLI::App& app, std::vector<std::string>& params);

// Numbers of i- and of j-particles.
using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;
struct SizeWords {
  std::string nj, ni;   // no ni: as many as j
  Sizes sizes() const;  // throws UsageError
};
// --n, --ni
void declare_sizes(CLI::App& app, SizeWords& words);

Isa compiler_isa(const KernelChoice& choice);
Target compiler_target(const KernelChoice& choice);
// True if arrays can be on the device.
bool has_own_memory(const KernelChoice& choice);
// Throws UsageError, behind `what`, unless it is one GPU, whose launch configurations can be chosen.
void require_one_gpu(const KernelChoice& choice, const char* what);

// "single precision, fast math": for messages.
std::string describe(const Options& options);

}  // namespace nbcc
