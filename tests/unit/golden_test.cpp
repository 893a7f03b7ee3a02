// Whole kernels, compared exactly with tests/golden/: a change of the emitted text shows in review. Set
// NBCC_UPDATE_GOLDEN=1 to have the files written anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize.h"
#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

struct GoldenCase {
  const char* pipeline;
  Isa isa;
  Precision precision;
};

const GoldenCase kGoldenCases[] = {
    {"gravity", Isa::Avx2, Precision::Single},
    {"lennard_jones", Isa::Avx2, Precision::Single},      // a cutoff that skips whole vectors
    {"nearest_neighbour", Isa::Sse2, Precision::Double},  // argmin
    {"gravity_jerk", Isa::Avx512, Precision::Mixed},      // two-float differences
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string kRoot = test::source_folder();

void expect_as_reviewed(const std::string& text, const std::string& file) {
  const std::string path = kRoot + "/tests/golden/" + file;
  const char* const update = std::getenv("NBCC_UPDATE_GOLDEN");
  if (update && std::string(update) == "1") std::ofstream(path, std::ios::binary) << text;
  const std::string expected = contents(path);
  ASSERT_FALSE(expected.empty()) << path << " is missing; NBCC_UPDATE_GOLDEN=1 writes it";
  EXPECT_TRUE(text == expected) << path << " differs from what is emitted now; NBCC_UPDATE_GOLDEN=1 rewrites it. Now:\n"
                                << text;
}

TEST(golden, kernels_are_as_reviewed) {
  for (const GoldenCase& c : kGoldenCases) {
    const std::string text = build_cpu_kernel(read_source(kRoot + "/pipelines/" + c.pipeline + ".pipe"),
                                              {.precision = c.precision}, c.isa, "")
                                 .first()
                                 .source;
    expect_as_reviewed(
        text, std::string(c.pipeline) + "." + std::string(name(c.isa)) + "." + std::string(name(c.precision)) + ".cpp");
  }
}

// Sums, a cutoff, extremes with finish(). The functions in front, which all kernels share, are left out.
TEST(golden, cuda_kernels_are_as_reviewed) {
  for (const std::string pipeline : {"gravity", "lennard_jones", "nearest_neighbour"}) {
    for (const Precision precision : {Precision::Single, Precision::Mixed}) {
      const Options options{.precision = precision};
      const Pipeline parsed = parse(read_source(kRoot + "/pipelines/" + pipeline + ".pipe"));
      const std::string text = emit_cuda(optimize(parsed, options, cuda_target()), options).first().source;
      const std::size_t begin = text.find("constexpr int kSliceThreads");
      ASSERT_NE(begin, std::string::npos);
      expect_as_reviewed(text.substr(begin), pipeline + ".cuda." + std::string(name(precision)) + ".cu");
    }
  }
}

}  // namespace
}  // namespace nbcc
