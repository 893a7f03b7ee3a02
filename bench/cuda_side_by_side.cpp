// The bench program for GPUs: arguments -> the sections that they name, each a table on standard output, all of them in
// a JSON file. It asserts no time; what the numbers should be stands in RESULTS.md.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "bench/cuda/contest.h"
#include "bench/cuda/device_line.h"
#include "bench/cuda/host_time.h"
#include "bench/embedded_texts.h"

namespace nbcc::bench {
namespace {

using Counts = std::vector<std::int64_t>;

struct Section {
  const char* name;
  const char* pipeline;  // null: the host's time
  nbcc_precision precision;
  Particles (*particles)(std::int64_t n);
  Counts counts;
  const char* what;
};

// Lattices have whole sides; a multiple of 8, so that tiles are full.
std::int64_t side_of(std::int64_t n) { return std::max<std::int64_t>(8, std::llround(std::cbrt(double(n)) / 8) * 8); }
Particles liquid_of(std::int64_t n) { return liquid(side_of(n)); }
Particles gas_of(std::int64_t n) { return gas(side_of(n)); }

const Counts kDoubling{2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144};
const Counts kFewer{2048, 8192, 32768, 131072};
const Counts kCubes{4096, 32768, 262144};

const Section kSections[] = {
    {"gravity", "gravity_acc", NBCC_SINGLE, plummer, kDoubling, "accelerations only, single precision"},
    {"jerk", "gravity_jerk", NBCC_SINGLE, plummer, kDoubling, "acceleration, jerk and potential, single precision"},
    {"mixed", "gravity_acc", NBCC_MIXED, plummer, kFewer, "accelerations only, mixed precision"},
    {"double", "gravity_acc", NBCC_DOUBLE, plummer, kFewer, "accelerations only, double precision"},
    {"lennard_jones", "lennard_jones", NBCC_SINGLE, liquid_of, kCubes, "cutoff 3 in a periodic box, density 1"},
    {"sph_force", "sph_force", NBCC_SINGLE, gas_of, kCubes, "about 60 neighbours each"},
    {"launch", nullptr, NBCC_SINGLE, nullptr, {}, "the host's time for a run that it does not wait for"},
};

void print_usage() {
  fmt::print("usage: cuda_side_by_side [SECTION...] [options]\n\nsections (all by default):\n");
  for (const Section& section : kSections) fmt::print("  {:<15}{}\n", section.name, section.what);
  fmt::print(
      "\noptions:\n"
      "  --n LIST          numbers of particles, as 2048,65536; multiples of 256, and cubes of a multiple of 8 for\n"
      "                    lennard_jones and sph_force (the nearest one is taken)\n"
      "  --repeat N        alternating rounds, of which the median counts (default: 9)\n"
      "  --tuned           the generated kernels as `nbcc tune` has left them in the cache of this user\n"
      "  --json FILE       everything measured\n"
      "  --compile-only    compile every hand-written kernel in every shape, without a GPU: registers and spills\n"
      "  --arch LIST       for --compile-only (default: sm_90)\n");
}

struct Arguments {
  std::vector<const Section*> sections;
  Counts counts;
  int rounds = 9;
  std::string json;
  std::vector<std::string> architectures{"sm_90"};
  bool tuned = false, compile_only = false, help = false;
};

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words(1);
  for (const char c : list)
    if (c == ',')
      words.emplace_back();
    else
      words.back() += c;
  return words;
}

Counts counts_of(const std::string& list) {
  Counts counts;
  for (const std::string& word : words_of(list)) {
    char* end = nullptr;
    counts.push_back(std::strtoll(word.c_str(), &end, 10));
    if (*end != 0 || counts.back() < 256 || counts.back() > 1 << 22 || counts.back() % 256 != 0)
      throw std::runtime_error(fmt::format("--n takes multiples of 256 up to {}, not '{}'", 1 << 22, word));
  }
  return counts;
}

Arguments parse(int count, char** values) {
  Arguments arguments;
  const auto value_of = [&](int& k) {
    if (k + 1 >= count) throw std::runtime_error(fmt::format("{} needs a value", values[k]));
    return std::string(values[++k]);
  };
  for (int k = 1; k < count; ++k) {
    const std::string word = values[k];
    if (word == "--n")
      arguments.counts = counts_of(value_of(k));
    else if (word == "--repeat")
      arguments.rounds = std::max(1, std::atoi(value_of(k).c_str()));
    else if (word == "--json")
      arguments.json = value_of(k);
    else if (word == "--arch")
      arguments.architectures = words_of(value_of(k));
    else if (word == "--tuned")
      arguments.tuned = true;
    else if (word == "--compile-only")
      arguments.compile_only = true;
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

int compile_all(const Arguments& arguments) {
  const HandCompiler compiler;
  Report report;
  bool spilled = false;
  for (const Section* section : arguments.sections) {
    if (!section->pipeline) continue;
    std::vector<Row> rows;
    for (const HandFamily& family : hand_families(section->pipeline, section->precision))
      for (const HandShape& shape : family.shapes) {
        Row row{{"by_hand", family.name}, {"shape", describe(shape)}};
        for (const std::string& architecture : arguments.architectures) {
          const std::string text(embedded_cuda_kernel(family.text));
          const HandCode code = compiler.compile(text, "interact", architecture, options_of(family, shape));
          spilled |= code.spilled_bytes > 0;
          row[architecture + "_registers"] = code.registers;
          row[architecture + "_spilled_bytes"] = code.spilled_bytes;
        }
        rows.push_back(std::move(row));
      }
    report.table(section->name, fmt::format("{}: {}", section->name, section->what), rows);
  }
  report.write_json(arguments.json, {{"nvrtc", compiler.version()}});
  fmt::print("\nNVRTC {}: all hand-written kernels compile{}\n", compiler.version(), spilled ? "; some spill" : "");
  return 0;
}

int measure(const Arguments& arguments) {
  const Gpu gpu(arguments.tuned);
  const CudaContextGuard guard(gpu.gpu);
  Row machine = describe_machine(gpu);
  machine["tuned"] = arguments.tuned;
  fmt::print("{}{}\n", machine_line(machine), arguments.tuned ? "; tuned" : "");
  Report report;
  bool failed = false;
  for (const Section* section : arguments.sections) {
    try {
      if (!section->pipeline) {
        report.table(section->name, fmt::format("{}: {}", section->name, section->what), host_times(gpu));
        continue;
      }
      Contest contest(gpu, section->pipeline, section->precision);
      std::vector<Row> rows;
      for (const std::int64_t n : arguments.counts.empty() ? section->counts : arguments.counts)
        for (Row& row : contest.rows(section->particles(n), arguments.rounds)) rows.push_back(std::move(row));
      report.table(section->name,
                   fmt::format("{}: {}; arrays on the device, medians of {} rounds", section->name, section->what,
                               arguments.rounds),
                   rows);
      failed |= !contest.all_agreed();
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
    const Arguments arguments = parse(count, values);
    if (arguments.help) {
      print_usage();
      return 0;
    }
    return arguments.compile_only ? compile_all(arguments) : measure(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
