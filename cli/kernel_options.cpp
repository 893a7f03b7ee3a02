// Declares the options for compiling and turns their words into the compiler's enumerations. Opens no device.
#include "cli/kernel_options.h"

#include <fmt/core.h>

#include <CLI/Validators.hpp>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/text/diagnostic.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/cuda_device.h"

namespace nbcc {
namespace {

// The enumerator whose name is `word`.
template <typename Enumeration>
Enumeration from_name(std::string_view word, std::initializer_list<Enumeration> all) {
  for (const Enumeration one : all)
    if (name(one) == word) return one;
  throw InternalError(fmt::format("the command line let '{}' pass", word));
}

CLI::Validator is_device() {
  return {[](const std::string& word) {
            if (word == "cpu" || cuda_ordinal(word)) return std::string();
            return fmt::format("'{}' is no device; there are cpu, cuda, and cuda:0, cuda:1, ...", word);
          },
          ""};
}

void declare_device(CLI::App& app, KernelChoice& choice) {
  app.add_option("--device", choice.device, "Where to compute: cpu, cuda (the first GPU) or cuda:N")
      ->check(is_device())
      ->type_name("DEVICE")
      ->capture_default_str();
}

}  // namespace

void declare_arithmetic(CLI::App& app, KernelChoice& choice) {
  app.add_option("--precision", choice.precision, "Working precision of the terms (sums are kept in double)")
      ->check(CLI::IsMember({"single", "mixed", "double"}))
      ->capture_default_str();
  app.add_option("--math", choice.math, "Reassociated sums and reciprocal roots, or the order as written")
      ->check(CLI::IsMember({"fast", "precise"}))
      ->capture_default_str();
  app.add_option("--root", choice.root, "Reciprocal square roots: estimate refined, bare estimate, or exact")
      ->check(CLI::IsMember({"refined", "estimate", "exact"}))
      ->capture_default_str();
}

void declare_compile_options(CLI::App& app, KernelChoice& choice) {
  declare_arithmetic(app, choice);
  app.add_option("--isa", choice.isa, "Instruction set of the CPU (default: the best that this machine has)")
      ->check(CLI::IsMember({"sse2", "avx2", "avx512", "neon"}));
}

void declare_kernel_options(CLI::App& app, KernelChoice& choice) {
  declare_device(app, choice);
  declare_compile_options(app, choice);
  app.add_option("--threads", choice.threads, "Threads to use (default: all cores)")
      ->check(CLI::Range(1, 65535).description(""));
}

void declare_gpu_options(CLI::App& app, KernelChoice& choice) {
  declare_device(app, choice);
  declare_arithmetic(app, choice);
}

void declare_sizes(CLI::App& app, std::string& counts, std::string& count_i, std::vector<std::string>& params) {
  app.add_option("-n,--n", counts, "Numbers of particles: 4096, 1e5, 1024,3000 or 1024..65536 (doubling)")
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--ni", count_i, "So many i-particles with each of these (default: as many as j)")->type_name("N");
  app.add_option("--param", params, "A param's value, name=value or name=1,2,3; may be given several times")
      ->type_name("NAME=VALUE")
      ->take_all();
}

Options compiler_options(const KernelChoice& choice) {
  return {from_name(choice.precision, {Precision::Single, Precision::Mixed, Precision::Double}),
          from_name(choice.math, {Math::Fast, Math::Precise}),
          from_name(choice.root, {RootMode::Refined, RootMode::Estimate, RootMode::Exact})};
}

Isa compiler_isa(const KernelChoice& choice) { return choice.isa.empty() ? detect_isa() : isa_from_name(choice.isa); }

Target compiler_target(const KernelChoice& choice) {
  return cuda_ordinal(choice.device) ? cuda_target() : cpu_target(compiler_isa(choice));
}

std::string describe(const KernelChoice& choice) {
  const std::string root = choice.root == "refined" ? "" : fmt::format(", {} roots", choice.root);
  return fmt::format("{} precision, {} math{}", choice.precision, choice.math, root);
}

}  // namespace nbcc
