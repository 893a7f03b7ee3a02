// Random pipelines on the CPU device against the interpreter, with tails in i and j; a fifth of the seeds in a run.
// Compiling is what this test waits for: a seed takes each precision once, and instruction sets and floating point
// policies in turn, so that every combination of the three meets the same share of the seeds. A failure names the seed
// and prints the pipeline.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

constexpr int kGroups = 15, kSeedsOfGroup = 10;
constexpr std::int64_t kSizes[][2] = {{5, 37}, {3, 1000}, {1, 1}, {2, 0}};

// The kernel's text in a file, for who wants to look into it.
std::string keep(const KernelSource& source, std::uint64_t seed, const std::string& which) {
  const auto path =
      std::filesystem::temp_directory_path() / ("nbcc-random-" + std::to_string(seed) + "-" + which + ".cpp");
  std::ofstream(path) << source.first().source;
  return path.string();
}

// Sizes with tails; and, since a pair that is left out leaves no trace, whatever its particles hold, the i alone that
// leaves out a j full of NaN or infinity, where it does.
std::vector<OracleInput> inputs_of(const Pipeline& pipeline, std::uint64_t seed) {
  std::vector<OracleInput> inputs;
  for (const auto& [ni, nj] : kSizes) inputs.push_back(random_pipeline_input(pipeline, ni, nj, seed));
  for (const double poison : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    OracleInput input = with_poison(pipeline, random_pipeline_input(pipeline, 1, 37, seed), poison);
    if (adds_nothing(pipeline, input, 0, 0)) inputs.push_back(std::move(input));
  }
  return inputs;
}

class RandomPipelines : public testing::TestWithParam<int> {};

TEST_P(RandomPipelines, AgreeWithTheInterpreter) {
  for (int k = 0; k < kSeedsOfGroup; ++k) {
    const auto seed = std::uint64_t(GetParam() * kSeedsOfGroup + k);
    const std::string text = random_pipeline_text(seed);
    const Pipeline pipeline = parse({"random.pipe", text});
    const std::vector<OracleInput> inputs = inputs_of(pipeline, seed);
    std::uint64_t turn = seed;
    for (const Precision precision : {Precision::Single, Precision::Mixed, Precision::Double}) {
      const std::vector<Isa> isas = runnable_isas();
      const Isa isa = isas[turn % isas.size()];
      const Options options{precision, turn / isas.size() % 2 == 0 ? Math::Fast : Math::Precise, RootMode::Refined};
      ++turn;
      const CpuRun run(pipeline, options, isa);
      for (const OracleInput& input : inputs) {
        const Expectation expected = random_pipeline_expectation(pipeline, input, precision);
        const std::string wrong = random_pipeline_difference(pipeline, run(input), expected);
        if (wrong.empty()) continue;
        ADD_FAILURE() << "seed " << seed << ", " << describe(options, isa) << ", ni = " << input.ni
                      << ", nj = " << input.nj << ": " << wrong << "\n"
                      << keep(run.source(), seed, describe(options, isa)) << "\n"
                      << text;
        break;
      }
    }
  }
}

// An i-particle's result has the same bits alone, among others and with any number of threads.
TEST_P(RandomPipelines, AnIParticleDoesNotSeeTheOthers) {
  const auto seed = std::uint64_t(1000 + GetParam());
  const std::string text = random_pipeline_text(seed);
  const Pipeline pipeline = parse({"random.pipe", text});
  const OracleInput input = random_pipeline_input(pipeline, 67, 1500, seed);
  const Options options{.precision = Precision(GetParam() % 3)};
  const CpuRun run(pipeline, options, detect_isa()), threads(pipeline, options, detect_isa(), 2);
  const CpuRun::Columns all = run(input), shared = threads(input);
  for (const auto& [begin, count] : {std::pair<int, int>{66, 1}, {1, 2}, {33, 20}}) {
    const CpuRun::Columns part = run(input, begin, count);
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (pipeline.field_of(Role::Output, int(c)).is_total()) continue;
      EXPECT_EQ(std::memcmp(part[c].data(), all[c].data() + begin, std::size_t(count) * sizeof(double)), 0) << text;
    }
  }
  for (std::size_t c = 0; c < all.size(); ++c) {
    EXPECT_EQ(std::memcmp(shared[c].data(), all[c].data(), all[c].size() * sizeof(double)), 0) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPipelines, testing::ValuesIn(sampled_range(0, kGroups, 5)),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace nbcc::test
