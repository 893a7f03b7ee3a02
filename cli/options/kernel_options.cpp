// Declares the options for compiling and converts their words to the compiler's enumerations. Opens no device.
#include "cli/options/kernel_options.h"

#include <fmt/core.h>

#include <CLI/Validators.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>

#include "jit/backend.h"
#include "particles/numbers.h"
#include "runtime/api/open_device.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// Adds an option whose values are the names of enumerators; `set` is called with the chosen one.
template <typename Enumeration, typename Set>
CLI::Option* add_choice(CLI::App& app, const char* option, std::vector<Enumeration> all, Set set, const char* text) {
  std::vector<std::string> names;
  for (const Enumeration one : all) names.emplace_back(name(one));
  const auto take = [=](const std::string& word) {
    set(all[std::size_t(std::ranges::find(names, word) - names.begin())]);
  };
  return app.add_option_function<std::string>(option, take, text)->check(CLI::IsMember(names));
}

CLI::Validator is_device() {
  return {[](const std::string& word) {
            const auto has = [&](const DeviceKind& kind) { return kind.is_name(word); };
            if (std::ranges::any_of(device_kinds(), has)) return std::string();
            return fmt::format("'{}' is no device; there are {}", word, all_device_names());
          },
          ""};
}

}  // namespace

void declare_device(CLI::App& app, KernelChoice& choice) {
  app.add_option("--device", choice.device,
                 "Where to compute: cpu, cuda (the first GPU), cuda:N, or several: cuda:0,2, cuda:all")
      ->check(is_device())
      ->type_name("DEVICE")
      ->capture_default_str();
}

namespace {

constexpr std::array kPrecisions = {Precision::Single, Precision::Mixed, Precision::Double};

void declare_arithmetic(CLI::App& app, KernelChoice& choice, const char* default_precision) {
  Options& options = choice.options;
  add_choice(
      app, "--precision", std::vector(kPrecisions.begin(), kPrecisions.end()),
      [&choice](Precision one) {
        choice.options.precision = one;
        choice.precision_is_chosen = true;
      },
      "Working precision of the terms (sums are kept in double, on GPUs in double or two floats)")
      ->default_str(default_precision);
  const auto add = [&](const char* option, auto& value, auto all, const char* text) {
    add_choice(
        app, option, std::vector(all), [&value](auto one) { value = one; }, text)
        ->default_str(std::string(name(value)));
  };
  add("--math", options.math, std::vector{Math::Fast, Math::Precise},
      "Reassociated sums and reciprocal roots, or the order as written");
  add("--root", options.root, std::vector{RootMode::Refined, RootMode::Estimate, RootMode::Exact},
      "Reciprocal square roots: estimate refined, bare estimate, or exact");
}

void declare_compile_options(CLI::App& app, KernelChoice& choice, const char* default_precision) {
  declare_arithmetic(app, choice, default_precision);
  std::vector<Isa> isas;
  for (const IsaFacts& isa : kIsas) isas.push_back(isa.isa);
  add_choice(
      app, "--isa", isas, [&](Isa isa) { choice.isa = isa; },
      "Instruction set of the CPU (default: the best that this machine has)");
}

}  // namespace

void declare_arithmetic(CLI::App& app, KernelChoice& choice) { declare_arithmetic(app, choice, "single"); }
void declare_compile_options(CLI::App& app, KernelChoice& choice) { declare_compile_options(app, choice, "single"); }

void declare_kernel_options(CLI::App& app, KernelChoice& choice, const char* default_precision) {
  declare_device(app, choice);
  declare_compile_options(app, choice, default_precision);
  add_choice(
      app, "--pairs", std::vector{PairChoice::Auto, PairChoice::All, PairChoice::Cutoff},
      [&](PairChoice pairs) { choice.pairs = pairs; },
      "Which pairs to compute: all, or (cutoff) the pairs that a search finds within the pipeline's proved cutoff")
      ->default_str("auto");
  add_choice(
      app, "--symmetric", std::vector{SymmetricChoice::Auto, SymmetricChoice::Off, SymmetricChoice::Always},
      [&](SymmetricChoice symmetric) { choice.symmetric = symmetric; },
      "In sums of one set over all pairs, compute each pair once, for both of its particles: if that is faster, never, "
      "or wherever it is possible")
      ->default_str("auto");
  app.add_flag("--clamp", choice.clamp,
               "Clamp table indices that are out of range to the nearest element (default: they are an error)");
  declare_threads(app, choice);
}

CLI::Option* declare_tolerance(CLI::App& app, KernelChoice& choice) {
  return app
      .add_option(
          "--tolerance", choice.tolerance,
          "Sum to a tolerance, for pipelines with a far field: the root mean square over sampled i of the error "
          "relative to the sum of the terms' magnitudes (default: 0, none)")
      ->type_name("NUMBER");
}

void declare_threads(CLI::App& app, KernelChoice& choice) {
  app.add_option("--threads", choice.threads, "Threads to use (default: all cores)")
      ->check(CLI::Range(1, 65535).description(""));
}

void declare_gpu_options(CLI::App& app, KernelChoice& choice) {
  declare_device(app, choice);
  declare_arithmetic(app, choice);
}

void declare_params(CLI::App& app, std::vector<std::string>& params) {
  app.add_option("--param", params, "A param's value, name=value, name=1,2,3 or name=@FILE; may be given several times")
      ->type_name("NAME=VALUE")
      ->take_all();
}

void declare_sizes(CLI::App& app, SizeWords& words) {
  app.add_option("-n,--n", words.nj, "Numbers of particles: 4096, 1e5, 1024,3000 or 1024..65536 (doubling)")
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--ni", words.ni, "Number of i-particles for each of these (default: as many as j)")->type_name("N");
}

Sizes SizeWords::sizes() const {
  Sizes sizes;
  for (const std::int64_t n : parse_counts(nj, "--n"))
    sizes.emplace_back(ni.empty() ? n : parse_counts(ni, "--ni").front(), n);
  return sizes;
}

Isa compiler_isa(const KernelChoice& choice) { return choice.isa.value_or(detect_isa()); }

bool has_own_memory(const KernelChoice& choice) { return kind_of_device(choice.device).has_own_memory; }

void require_one_gpu(const KernelChoice& choice, const char* what) {
  if (cuda_ordinal(choice.device)) return;
  throw UsageError(fmt::format(
      "{}: only sums on one GPU can be cut in different ways; --device takes cuda, cuda:0, cuda:1, ..., not {}", what,
      choice.device));
}

Target compiler_target(const KernelChoice& choice) {
  return backend_named(kind_of_device(choice.device).backend).target(compiler_isa(choice));
}

void take_precision_of_environment(KernelChoice& choice) {
  const char* const word = std::getenv("NBCC_PRECISION");
  if (choice.precision_is_chosen || !word || !*word) return;
  const auto chosen = std::ranges::find(kPrecisions, std::string_view(word), [](Precision one) { return name(one); });
  if (chosen == kPrecisions.end())
    throw UsageError(
        fmt::format("NBCC_PRECISION (of the environment): expected single, mixed or double, got '{}'", word));
  choice.options.precision = *chosen;
  choice.precision_is_chosen = true;
  choice.precision_origin = "NBCC_PRECISION";
}

namespace {

std::string describe(const Options& options, const std::string& precision_origin) {
  const std::string root = options.root == RootMode::Refined ? "" : fmt::format(", {} roots", name(options.root));
  const std::string origin = precision_origin.empty() ? "" : fmt::format(" ({})", precision_origin);
  return fmt::format("{} precision{}, {} math{}", name(options.precision), origin, name(options.math), root);
}

}  // namespace

std::string describe(const Options& options) { return describe(options, ""); }
std::string describe(const KernelChoice& choice) { return describe(choice.options, choice.precision_origin); }

}  // namespace nbcc
