// The bench program: arguments -> the sections that they name, each a table on standard output, all of them in a JSON
// file. It asserts no time; what the numbers should be stands in RESULTS.md.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "bench/measure.h"
#include "bench/sections.h"

namespace nbcc::bench {
namespace {

struct Section {
  const char* name;
  void (*measure)(const Setup&, Report&);
  const char* what;
};

constexpr Section kSections[] = {
    {"compile", measure_compile_times, "text to callable kernel, cold and from the disk cache"},
    {"speed", measure_side_by_side, "generated kernels against hand-written ones"},
    {"shapes", measure_shapes, "the hand-written ones among themselves"},
    {"small", measure_small_sets, "few i-particles"},
    {"symmetric", measure_symmetric, "each pair of one set once against both ends"},
    {"threads", measure_threads, "two threads against one"},
    {"precisions", measure_precisions, "single, mixed, double; fast, precise"},
    {"roots", measure_roots, "estimate, refined, exact"},
    {"spellings", measure_spellings, "equivalent formulas"},
    {"portable", measure_portable, "a loop in portable C against the generated kernel"},
    {"functions", measure_functions, "exp, erfc, sinpi against scalar libm"},
    {"accuracy", measure_accuracy, "errors on a Plummer sphere"},
    {"sequential", measure_sequential, "errors of a sequential sum against blocked sums (Hamada & Iitaka, table 2)"},
};

void print_usage() {
  fmt::print("usage: cpu_side_by_side [SECTION...] [options]\n\nsections (all by default):\n");
  for (const Section& section : kSections) fmt::print("  {:<12}{}\n", section.name, section.what);
  fmt::print(
      "\noptions:\n"
      "  --isa avx512|avx2|sse2   for generated and hand-written kernels; the best of this machine by default\n"
      "  --rounds N               of alternating runs, at least 9 for numbers that count (the default)\n"
      "  --pipelines DIR          of .pipe files, in place of those built in\n"
      "  --json FILE              everything measured\n"
      "  --quick                  small sets: to see that all works\n");
}

struct Arguments {
  Setup setup;
  std::string json;
  std::vector<const Section*> sections;
  bool help = false;
};

Arguments parse(int count, char** values) {
  Arguments arguments;
  const auto value_of = [&](int& k) {
    if (k + 1 >= count) throw std::runtime_error(fmt::format("{} needs a value", values[k]));
    return std::string(values[++k]);
  };
  for (int k = 1; k < count; ++k) {
    const std::string word = values[k];
    if (word == "--isa")
      arguments.setup.isa = value_of(k);
    else if (word == "--rounds")
      arguments.setup.rounds = std::max(1, std::atoi(value_of(k).c_str()));
    else if (word == "--pipelines")
      arguments.setup.folder = value_of(k);
    else if (word == "--json")
      arguments.json = value_of(k);
    else if (word == "--quick")
      arguments.setup.quick = true;
    else if (word == "--help")
      arguments.help = true;
    else {
      const auto* section =
          std::find_if(std::begin(kSections), std::end(kSections), [&](const Section& s) { return s.name == word; });
      if (section == std::end(kSections))
        throw std::runtime_error(fmt::format("no section or option '{}'; see --help", word));
      arguments.sections.push_back(section);
    }
  }
  if (arguments.sections.empty())
    for (const Section& section : kSections) arguments.sections.push_back(&section);
  return arguments;
}

std::string best_isa() {
#ifdef NBCC_BENCH_X86
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (v4) return "avx512";
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "avx2" : "sse2";
#else
  return "";
#endif
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

// The best of a few: one of them may have been interrupted.
double undisturbed_clock() {
  double best = 0;
  for (int k = 0; k < 9; ++k) best = std::max(best, clock_gigahertz());
  return best;
}

// Whether others were at work while this was measured.
double load() {
  double average[1] = {0};
  return getloadavg(average, 1) == 1 ? average[0] : -1;
}

int run(const Arguments& arguments) {
  const Row machine{{"processor", processor()},
                    {"isa", arguments.setup.isa},
                    {"GHz", undisturbed_clock()},
                    {"load_before", load()},
                    {"rounds", arguments.setup.rounds}};
  Report report;
  fmt::print("{}, {}, {:.2f} GHz, load {:.2f} before the start\n", processor(), arguments.setup.isa,
             machine["GHz"].get<double>(), machine["load_before"].get<double>());
  bool failed = false;
  for (const Section* section : arguments.sections) {
    try {
      section->measure(arguments.setup, report);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", section->name, error.what());
      failed = true;
    }
  }
  report.write_json(arguments.json, machine);
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace nbcc::bench

int main(int count, char** values) {
  using namespace nbcc::bench;
  try {
    Arguments arguments = parse(count, values);
    if (arguments.help) {
      print_usage();
      return 0;
    }
    if (arguments.setup.isa.empty()) arguments.setup.isa = best_isa();
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
