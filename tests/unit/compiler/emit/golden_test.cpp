// Whole kernels, compared exactly with tests/golden/: a change of the emitted text shows in review. Set
// NBCC_UPDATE_GOLDEN=1 to have the files written anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize/optimize.h"
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

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What distinguishes `text` from `whole`, by a longest common subsequence of their lines: the lines of its own, marked
// by "+", and those of `whole` that it lacks, marked by "-", each block of them under the last common line.
std::string differences(const std::string& whole, const std::string& text) {
  const std::vector<std::string> a = lines_of(whole), b = lines_of(text);
  // [k][l]: length of the longest common subsequence of the lines from a[k] and from b[l] on.
  std::vector common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (std::size_t k = a.size(); k-- > 0;)
    for (std::size_t l = b.size(); l-- > 0;)
      common[k][l] = a[k] == b[l] ? common[k + 1][l + 1] + 1 : std::max(common[k + 1][l], common[k][l + 1]);
  std::string found, last;
  bool shown = false;  // `last` is in `found`
  const auto add = [&](char mark, const std::string& line) {
    if (!shown) found += "@ " + last + "\n";
    shown = true;
    found += mark + line + "\n";
  };
  for (std::size_t k = 0, l = 0; k < a.size() || l < b.size();) {
    if (k < a.size() && l < b.size() && a[k] == b[l]) {
      last = a[k++], ++l, shown = false;
    } else if (l == b.size() || (k < a.size() && common[k + 1][l] >= common[k][l + 1])) {
      add('-', a[k++]);
    } else {
      add('+', b[l++]);
    }
  }
  return found;
}

// Sums, a cutoff, extremes with finish(). The functions in front, which all kernels share, are omitted. Gravity in
// single precision is there as a whole; of the others, what distinguishes them from it.
TEST(golden, cuda_kernels_are_as_reviewed) {
  std::string whole;
  for (const std::string pipeline : {"gravity", "lennard_jones", "nearest_neighbour"}) {
    for (const Precision precision : {Precision::Single, Precision::Mixed}) {
      const Options options{.precision = precision};
      const Pipeline parsed = parse(read_source(kRoot + "/pipelines/" + pipeline + ".pipe"));
      const std::string text = emit_cuda(optimize(parsed, options, cuda_target()), options).first().source;
      const std::size_t begin = text.find("constexpr int kSliceThreads");
      ASSERT_NE(begin, std::string::npos);
      const std::string file = pipeline + ".cuda." + std::string(name(precision));
      if (whole.empty()) {
        whole = text.substr(begin);
        expect_as_reviewed(whole, file + ".cu");
      } else {
        expect_as_reviewed(differences(whole, text.substr(begin)), file + ".diff");
      }
    }
  }
}

}  // namespace
}  // namespace nbcc
