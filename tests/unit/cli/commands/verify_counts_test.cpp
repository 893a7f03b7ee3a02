// `nbcc verify` on random pipelines of whole numbers, at places where single precision tells pairs apart badly: what it
// says of each output fits what a run in double precision gives.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "particles/files/particle_files.h"
#include "tests/support/command.h"
#include "tests/support/random_source.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Outputs n0, n1 ..., whole numbers all but every f.
std::string random_counts(RandomSource& random) {
  std::string declared = "input_i vec3 xi; input_j vec3 xj;\n", body, finish;
  const auto near = [&] { return fmt::format("r2 < {:.3f}", 0.05 * random.between(1, 40)); };
  const int outputs = random.between(1, 4);
  for (int k = 0; k < outputs; ++k) {
    const std::string n = fmt::format("n{}", k);
    const auto declare = [&](const char* reduction, const char* type) {
      declared += fmt::format("output({}) {} {};\n", reduction, type, n);
    };
    switch (random.below(9)) {
      case 0:
        declare("count", "index");
        body += fmt::format("{} += {};\n", n, near());
        break;
      case 1:
        declare("count", "int");
        body += fmt::format("if ({}) {} += dx.x > 0.1;\n", near(), n);
        break;
      case 2:
        declare("sum", "int");
        body += fmt::format("if ({}) {} += j_index % 3 + 1;\n", near(), n);
        break;
      case 3:
        declare("sum", "index");
        body += fmt::format("{} += int(floor(dx.x * 4.0));\n", n);
        break;
      case 4:
        declare(random.chance(50) ? "max" : "min", "int");
        body += fmt::format("if ({}) {} = {}({}, j_index % 7);\n", near(), n,
                            declared.ends_with(fmt::format("output(max) int {};\n", n)) ? "max" : "min", n);
        break;
      case 5:
        declare("argmin", "index");
        body += fmt::format("if (i_index != j_index) {} = argmin({}, r2);\n", n, n);
        break;
      case 6:
        declare("count", "index");
        body += fmt::format("{} += {};\n", n, near());
        finish += fmt::format("{} = {} / 2 * 3;\n", n, n);
        break;
      case 7:
        declare("sum", "real");
        body += fmt::format("if ({}) {} += 1.0;\n", near(), n);
        break;
      default:
        declare("sum", "int");
        body += fmt::format("{} += {} ? 2 : ({} ? 1 : 0);\n", n, near(), near());
    }
  }
  return declared + "vec3 dx = xj - xi;\nreal r2 = dot(dx, dx);\n" + body +
         (finish.empty() ? "" : "void finish() {\n" + finish + "}\n");
}

// Of some particles at a distance from the origin, on a lattice or not: many pairs are just at a cutoff.
std::string random_places(RandomSource& random) {
  const double origin = random.pick<double>({0, 100, 7e4, 4.5e6});
  const bool on_lattice = random.chance(50);
  std::string text = "# x[3]\n";
  for (int k = 0; k < 60; ++k)
    for (int c = 0; c < 3; ++c) {
      const double place = on_lattice ? 0.1 * random.below(20) : 1e-4 * random.below(20000);
      text += fmt::format("{}{}", origin + place, c < 2 ? " " : "\n");
    }
  return text;
}

// The results of a run in this precision.
ParticleTable results_of(const Shell& shell, const std::string& precision) {
  EXPECT_EQ(shell.nbcc("run counts.pipe --i places.txt --force -o out.npz --precision " + precision).code, 0);
  return read_particles(shell.path("out.npz"));
}

std::vector<double> numbers_of(const ParticleTable& results, const std::string& name) {
  return std::get<std::vector<double>>(convert(*results.find(name), ElementType::Double).data);
}

TEST(VerifyCounts, SaysWhatRoundingDecides) {
  const Shell shell;
  int differing = 0;
  for (const std::uint64_t seed : sampled_range<std::uint64_t>(1, 21, 4)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomSource random(seed);
    const std::string text = shell.write("counts.pipe", random_counts(random));
    shell.write("places.txt", random_places(random));
    const ParticleTable right_ones = results_of(shell, "double");
    // The interpreter's, but for pairs that double precision does not decide.
    std::set<std::string> known;
    for (const std::string precision : {"double", "mixed", "single"}) {
      const ParticleTable got_ones = results_of(shell, precision);
      const std::string words = "verify counts.pipe --i places.txt --precision " + precision;
      const Outcome told = shell.nbcc(words), object = shell.nbcc(words + " --json");
      // A real sum may have so many undecided pairs that its bound is too large.
      const int code = precision != "double" && told.out.find("TOO COARSE") != std::string::npos ? 1 : 0;
      ASSERT_EQ(told.code, code) << shell.read("counts.pipe") << precision << "\n" << told.out << told.err;
      ASSERT_THAT(told.out, Not(HasSubstr("WRONG")));
      const json outputs = json::parse(object.out)["outputs"];
      for (const json& output : outputs) {
        const std::string name = output["output"];
        const auto got = numbers_of(got_ones, name), right = numbers_of(right_ones, name);
        int differ = 0;
        double total = 0, largest = 0;
        for (std::size_t k = 0; k < got.size(); ++k) {
          differ += got[k] != right[k];
          total += got[k];
          largest = std::max(largest, std::abs(got[k] - right[k]));
        }
        const std::string line = told.out.substr(told.out.find("\n" + name));
        const std::string said = line.substr(1, line.find('\n', 1) - 1);
        if (precision == "double" && output.value("differ", 0) == 0) known.insert(name);
        if (!output.value("whole", true) || differ == 0 || !known.contains(name)) continue;
        ++differing;
        EXPECT_THAT(said, Not(HasSubstr("exact")));
        EXPECT_EQ(output.value("differ", 0), differ) << said;
        // Of an index, no pair is undecided but which of two candidates is the least.
        const bool any_will_do = output.value("undecided", 0) >= differ;
        EXPECT_TRUE(any_will_do || output.value("undecided_pairs", 0) > 0) << said;
        EXPECT_THAT(said, testing::AnyOf(HasSubstr("undecided"), HasSubstr("left to rounding")));
        if (output.value("undecided", 0) == 0) {
          EXPECT_EQ(output["max_error"], largest) << said;
          EXPECT_GE(output["bound"], largest) << said;
        }
        if (output.contains("total")) {
          EXPECT_EQ(output["total"], total) << said;
        }
      }
    }
    if (HasFailure()) FAIL() << shell.read("counts.pipe");
  }
  EXPECT_GT(differing, 0);
}

}  // namespace
}  // namespace nbcc::test
