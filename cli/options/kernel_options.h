// Options that several subcommands have: device, arithmetic, params, and the sizes of sums to be measured.
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
#include "runtime/sum/request/sum_request.h"

namespace nbcc {

struct KernelChoice {
  std::string device = "cpu";  // or "cuda", "cuda:N"
  Options options;
  bool precision_is_chosen = false;  // by --precision or NBCC_PRECISION; `run` and `verify` else follow the particles
  std::string precision_origin{};    // what chose options.precision, for messages; "": --precision
  std::optional<Isa> isa{};          // none: the best instruction set of this machine
  int threads = 0;                   // 0: all cores
  PairChoice pairs = PairChoice::Auto;
  SymmetricChoice symmetric = SymmetricChoice::Auto;
  double tolerance = 0;                       // of sums with a far field; 0: none
  bool clamp = false;                         // table indices out of range are clamped
  std::optional<std::string> cache_folder{};  // not an option; "" for none
};

// --precision, --math, --root
void declare_arithmetic(CLI::App& app, KernelChoice& choice);
// --isa, and the options of declare_arithmetic
void declare_compile_options(CLI::App& app, KernelChoice& choice);
// --device, --pairs, --symmetric, --clamp, --threads, and the options of declare_compile_options. `default_precision`:
// the help's words for the precision without --precision.
void declare_kernel_options(CLI::App& app, KernelChoice& choice, const char* default_precision);
// Without --precision takes the precision that NBCC_PRECISION names, if it is set. Throws UsageError.
void take_precision_of_environment(KernelChoice& choice);
// --tolerance
CLI::Option* declare_tolerance(CLI::App& app, KernelChoice& choice);
// --device
void declare_device(CLI::App& app, KernelChoice& choice);
// --threads
void declare_threads(CLI::App& app, KernelChoice& choice);
// --device, --precision, --math, --root: for subcommands that use GPUs only.
void declare_gpu_options(CLI::App& app, KernelChoice& choice);

// --param; parse_params() parses the words.
void declare_params(CLI::App& app, std::vector<std::string>& params);

// Pairs (ni, nj): numbers of i- and of j-particles.
using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;
struct SizeWords {
  std::string nj, ni;   // ni empty: ni = nj
  Sizes sizes() const;  // throws UsageError
};
// --n, --ni
void declare_sizes(CLI::App& app, SizeWords& words);

Isa compiler_isa(const KernelChoice& choice);
Target compiler_target(const KernelChoice& choice);
// True if the device has its own memory for arrays, like a GPU.
bool has_own_memory(const KernelChoice& choice);
// Throws UsageError unless the device is a single GPU, whose launch configuration can be chosen. `what`: the option or
// subcommand, for the message.
void require_one_gpu(const KernelChoice& choice, const char* what);

// "single precision, fast math": for messages.
std::string describe(const Options& options);
// The same with the origin of the precision: "double precision (of the particles), fast math".
std::string describe(const KernelChoice& choice);

}  // namespace nbcc
