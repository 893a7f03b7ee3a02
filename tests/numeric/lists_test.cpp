// Sums over lists of the caller, batches, listed pairs and all but some pairs, against the oracle over the same pairs.
#include <gtest/gtest.h>

#include <string>

#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/random_lists.h"
#include "tests/support/random_pipeline.h"

namespace nbcc {
namespace {

using namespace test;

constexpr int kSeedsOfGroup = 6;

// Of a random pipeline: in every kind of list, with and without exclusions; every third has inputs of pairs.
void expect_agreement(KernelDevice& device, std::uint64_t seed,
                      const std::function<KernelSource(const Pipeline&, const Options&)>& build) {
  const bool has_pairs = seed % 3 == 2;
  const std::string plain = random_pipeline_text(seed), text = has_pairs ? with_pair_input(plain) : plain;
  const Pipeline pipeline = parse({"random.pipe", text});
  const int pair_components = pipeline.components(Role::InputPair);
  const Options options{.precision = Precision(seed % 3), .math = Math(seed / 3 % 2)};
  const std::shared_ptr<const Kernel> kernel = device.load(build(pipeline, options));
  for (const auto& [ni, nj] : {std::pair{5, 37}, {3, 1000}, {130, 600}, {1, 1}, {2, 0}, {300, 5000}}) {
    for (const ListKind kind : kListKinds) {
      for (const bool left_out : {false, true}) {
        if (kind == ListKind::Pairs ? left_out : pair_components > 0) continue;
        if (kind == ListKind::All && !left_out) continue;
        OracleInput input = random_pipeline_input(pipeline, ni, nj, seed);
        if (nj > 1000 && kind != ListKind::OrderedLists) continue;
        ListCase one = random_list_case(input, kind, left_out, seed * 31 + std::uint64_t(ni));
        if (one.input.pairs) add_pair_columns(one.input, pair_components, seed);
        const Expectation expected = random_pipeline_expectation(pipeline, one.input, options.precision);
        const test::Columns got = run_kernel(kernel, one.input, {.prepare = one.prepare});
        EXPECT_EQ(random_pipeline_difference(pipeline, got, expected), "")
            << "seed " << seed << ", kind " << int(kind) << (left_out ? ", some left out, " : ", ") << ni << " x " << nj
            << ", " << name(options.precision) << "\n"
            << text;
      }
    }
  }
}

class RandomLists : public testing::TestWithParam<int> {};

TEST_P(RandomLists, AgreeWithTheInterpreter) {
  for (const Isa isa : runnable_isas()) {
    CpuDevice device(2, isa, make_cpu_toolchain(), "", "");
    for (int k = 0; k < kSeedsOfGroup; ++k) {
      expect_agreement(device, std::uint64_t(GetParam() * kSeedsOfGroup + k),
                       [isa](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, isa, ""); });
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLists, testing::Range(0, 4));

}  // namespace
}  // namespace nbcc
