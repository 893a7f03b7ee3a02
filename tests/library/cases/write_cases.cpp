// Pipelines of the library -> a text of particles and of what their sums must be, by the interpreter: the numeric cases
// that callers from every language share. Judges nothing.
//
//   write_cases FILE PIPELINE...
//
// A case is a line "pipeline ni nj kind", then the pipeline's fields in order of declaration. A field is a line "name
// count" and its numbers, eight in a line, component by component within a particle. An output has three: the sums, and
// how far they may be off in single (or mixed) and in double precision. The last line is "end 0 0 end". Kinds: plain;
// nan_i, nan_j: the inputs of one i-particle, or j-particle, are NaN.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <stdexcept>

#include "tests/support/every_pipeline.h"

namespace nbcc::test {
namespace {

constexpr std::int64_t kSizes[] = {0, 1, 2, 33, 777};
constexpr std::int64_t kDisturbedOf = 33;

// Without any i there is nothing about an output.
const std::vector<double>& of_output(const Values& values, const std::string& field) {
  static const std::vector<double> none;
  const auto found = values.find(field);
  return found == values.end() ? none : found->second;
}

void write_numbers(std::FILE* file, const std::string& name, const std::vector<double>& values, int digits) {
  fmt::print(file, "{} {}\n", name, values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const char* const behind = k % 8 == 7 || k + 1 == values.size() ? "\n" : " ";
    // As C, C++, Fortran and Python all read them.
    if (std::isnan(values[k])) {
      fmt::print(file, "NaN{}", behind);
    } else if (std::isinf(values[k])) {
      fmt::print(file, "{}{}", values[k] > 0 ? "Infinity" : "-Infinity", behind);
    } else {
      fmt::print(file, "{:.{}g}{}", values[k], digits, behind);
    }
  }
}

void write_case(std::FILE* file, const Oracle& oracle, const std::string& kind, const Particles& particles) {
  const Case made = make_case(oracle, kind, particles);
  fmt::print(file, "{} {} {} {}\n", oracle.pipeline().name, particles.ni, particles.nj, kind);
  for (const Field& field : oracle.pipeline().fields) {
    if (field.role == Role::Output) {
      write_numbers(file, field.name, of_output(made.values, field.name), 17);
      write_numbers(file, "single", of_output(made.single_bounds, field.name), 6);
      write_numbers(file, "double", of_output(made.double_bounds, field.name), 6);
    } else if (field.role == Role::Param) {
      write_numbers(file, field.name, particles.params.at(field.name), 17);
    } else {
      write_numbers(file, field.name, particles.fields.at(field.name), 17);
    }
  }
}

Particles disturbed(const Oracle& oracle, Role side) {
  Particles particles = random_particles(oracle.pipeline(), kDisturbedOf, kDisturbedOf, /*seed=*/61);
  for (const Field& field : oracle.pipeline().fields) {
    const auto width = std::size_t(field.components());
    if (field.role == side) std::fill_n(&particles.fields.at(field.name)[17 * width], width, NAN);
  }
  return particles;
}

void write_cases(std::FILE* file, const std::string& pipeline) {
  const Oracle oracle(pipeline);
  for (const std::int64_t ni : kSizes) {
    for (const std::int64_t nj : kSizes) {
      const auto seed = std::uint64_t(ni * 7919 + nj);
      write_case(file, oracle, "plain", random_particles(oracle.pipeline(), ni, nj, seed));
    }
  }
  write_case(file, oracle, "nan_i", disturbed(oracle, Role::InputI));
  write_case(file, oracle, "nan_j", disturbed(oracle, Role::InputJ));
}

}  // namespace
}  // namespace nbcc::test

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw std::runtime_error("write_cases FILE PIPELINE...");
    std::FILE* const file = std::fopen(argv[1], "w");
    if (!file) throw std::runtime_error(std::string(argv[1]) + " cannot be written");
    for (int k = 2; k < argc; ++k) nbcc::test::write_cases(file, argv[k]);
    fmt::print(file, "end 0 0 end\n");
    if (std::fclose(file) != 0) throw std::runtime_error(std::string(argv[1]) + " cannot be written");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
