// Sums over lists of the caller, batches, listed pairs and all but some pairs, against the oracle over the same pairs:
// on the CPU, on the shim, and on a GPU where there is one.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "compiler/source/parse.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/random_lists.h"
#include "tests/support/random_pipeline.h"

namespace nbcc {
namespace {

using namespace test;

// A device, and how its kernels are made. Where arrays may lie on it, they do for every other case.
struct Device {
  KernelDevice& device;
  std::function<KernelSource(const Pipeline&, const Options&)> build;
  const CudaGpu* gpu = nullptr;
};

// Of a random pipeline: in every kind of list, with and without exclusions; every third has inputs of pairs.
void expect_agreement(const Device& on, std::uint64_t seed) {
  const bool has_pairs = seed % 3 == 2;
  const std::string plain = random_pipeline_text(seed), text = has_pairs ? with_pair_input(plain) : plain;
  const Pipeline pipeline = parse({"random.pipe", text});
  const int pair_components = pipeline.components(Role::InputPair);
  const Options options{.precision = Precision(seed % 3), .math = Math(seed / 3 % 2)};
  const std::shared_ptr<const Kernel> kernel = on.device.load(on.build(pipeline, options));
  int number = 0;
  for (const auto& [ni, nj] : {std::pair{5, 37}, {3, 1000}, {130, 600}, {1, 1}, {2, 0}, {40, 5000}}) {
    for (const ListKind kind : kListKinds) {
      for (const bool left_out : {false, true}) {
        if (kind == ListKind::Pairs ? left_out : pair_components > 0) continue;
        if (kind == ListKind::All && !left_out) continue;
        if (nj > 1000 && kind != ListKind::OrderedLists) continue;
        ListCase one = random_list_case(random_pipeline_input(pipeline, ni, nj, seed), kind, left_out,
                                        seed * 31 + std::uint64_t(ni));
        if (one.input.pairs) add_pair_columns(one.input, pair_components, seed);
        KernelRunChoice choice{.arrays_on = number++ % 2 == 0 ? on.gpu : nullptr, .prepare = one.prepare};
        // Some of the i, where that can be.
        if ((kind == ListKind::All || kind == ListKind::Pairs) && ni > 3) choice.begin = 2, choice.count = ni - 3;
        Expectation expected = random_pipeline_expectation(pipeline, one.input, options.precision);
        for (auto* columns : {&expected.values, &expected.bound})
          for (auto& column : *columns) {
            column.erase(column.begin(), column.begin() + choice.begin);
            if (choice.count >= 0) column.resize(std::size_t(choice.count));
          }
        const test::Columns got = run_kernel(kernel, one.input, choice);
        EXPECT_EQ(random_pipeline_difference(pipeline, got, expected), "")
            << "seed " << seed << ", kind " << int(kind) << (left_out ? ", some left out, " : ", ") << ni << " x " << nj
            << ", " << name(options.precision) << (choice.arrays_on ? ", arrays there" : ", arrays here") << "\n"
            << text;
      }
    }
  }
}

class RandomLists : public testing::TestWithParam<int> {};

TEST_P(RandomLists, AgreeWithTheInterpreter) {
  constexpr int kSeeds = 4;
  for (const Isa isa : runnable_isas()) {
    CpuDevice device(2, isa, make_cpu_toolchain(), "", "");
    const auto build = [isa](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, isa, ""); };
    for (int k = 0; k < kSeeds; ++k) expect_agreement({device, build}, std::uint64_t(GetParam() * kSeeds + k));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLists, testing::Range(0, 4));

KernelSource build_for_gpu(const Pipeline& pipeline, const Options& options) {
  return build_cuda_kernel(pipeline, options, "");
}

class RandomListsOnShim : public testing::TestWithParam<int> {};

TEST_P(RandomListsOnShim, AgreeWithTheInterpreter) {
  CudaShim shim;
  const ShimOrder orders[] = {{}, {ShimOrder::Kind::Backward}, {ShimOrder::Kind::Shuffled, 7}};
  shim.set_block_order(orders[GetParam() % 3]);
  shim.set_thread_order(orders[GetParam() / 3 % 3]);
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_agreement({device, build_for_gpu, &device.gpu()}, std::uint64_t(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomListsOnShim, testing::Range(0, 6));

class RandomListsOnGpu : public testing::TestWithParam<int> {};

TEST_P(RandomListsOnGpu, AgreeWithTheInterpreter) {
  std::optional<CudaDevice> device;
  try {
    device.emplace(cuda_driver(), make_nvrtc(), 0, "", "");
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  constexpr int kSeeds = 3;
  for (int k = 0; k < kSeeds; ++k)
    expect_agreement({*device, build_for_gpu, &device->gpu()}, std::uint64_t(GetParam() * kSeeds + k));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomListsOnGpu, testing::Range(0, 6));

}  // namespace
}  // namespace nbcc
