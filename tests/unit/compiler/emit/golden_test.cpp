// Emitted kernels, compared exactly with tests/golden/: a change of the emitted text shows in review. The first kernel
// of a backend is stored entire (.cpp, .cu), the others as their differences from it (.diff). NBCC_UPDATE_GOLDEN=1
// rewrites the files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

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

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The differences of `text` from `base`, by a longest common subsequence of their lines: "+" marks lines that only
// `text` has, "-" lines that only `base` has, "@" the common line before a block of differences.
std::string differences(const std::string& base, const std::string& text) {
  const std::vector<std::string> a = lines_of(base), b = lines_of(text);
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

// The kernels of one backend. `extension`: of the file of the first one.
class GoldenKernels {
 public:
  explicit GoldenKernels(std::string extension) : extension_(std::move(extension)) {}
  void expect(const std::string& name, const std::string& text) {
    if (!base_.empty()) return expect_as_reviewed(differences(base_, text), name + ".diff");
    base_ = text;
    expect_as_reviewed(text, name + extension_);
  }

 private:
  std::string extension_, base_;
};

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

TEST(golden, kernels_are_as_reviewed) {
  GoldenKernels golden(".cpp");
  for (const GoldenCase& c : kGoldenCases) {
    const Source source = read_source(kRoot + "/pipelines/" + c.pipeline + ".pipe");
    const KernelSource kernel = build_cpu_kernel(source, {.precision = c.precision}, c.isa, "");
    golden.expect(fmt::format("{}.{}.{}", c.pipeline, name(c.isa), name(c.precision)), kernel.first().source);
  }
}

// Sums in two precisions, a cutoff, extremes with finish(). The functions in front, which all kernels share, are
// omitted.
TEST(golden, cuda_kernels_are_as_reviewed) {
  GoldenKernels golden(".cu");
  for (const std::string pipeline : {"gravity", "lennard_jones", "nearest_neighbour"}) {
    for (const Precision precision : {Precision::Single, Precision::Mixed}) {
      if (pipeline != "gravity" && precision == Precision::Mixed) continue;
      const Options options{.precision = precision};
      const Pipeline parsed = parse(read_source(kRoot + "/pipelines/" + pipeline + ".pipe"));
      const std::string text = emit_cuda(optimize(parsed, options, cuda_target()), options).first().source;
      const std::size_t begin = text.find("constexpr int kSliceThreads");
      ASSERT_NE(begin, std::string::npos);
      golden.expect(fmt::format("{}.cuda.{}", pipeline, name(precision)), text.substr(begin));
    }
  }
}

}  // namespace
}  // namespace nbcc
