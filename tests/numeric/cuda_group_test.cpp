// Several GPUs as one device give the bits of one, wherever the arrays lie and whichever pairs act: on the shim, and on
// the GPUs of this machine where there are several.
#include "runtime/cuda/group/cuda_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "jit/build_kernel.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

using test::CudaExperiment;
using test::CudaShim;
using test::Numbers;

enum class Machine : std::uint8_t { Shim, Here };

class CudaGroupSums : public testing::TestWithParam<Machine> {
 protected:
  static constexpr int kMost = 4;

  void SetUp() override {
    try {
      int count = 3;
      if (GetParam() == Machine::Shim)
        shim_.emplace().set_device_count(count);
      else
        check(cuda_driver(), cuda_driver().device_get_count(&count), "counting the GPUs");
      if (count < 2) GTEST_SKIP() << "there is one GPU";
      for (int k = 0; k < std::min(count, kMost); ++k)
        gpus_.push_back(shim_ ? std::make_shared<CudaDevice>(shim_->driver(), shim_->compiler(), k, "", "")
                              : std::make_shared<CudaDevice>(cuda_driver(), make_nvrtc(), k, "", ""));
    } catch (const DeviceError& e) {
      GTEST_SKIP() << e.what();
    }
  }
  int most() const { return int(gpus_.size()); }
  std::shared_ptr<KernelDevice> group(int count) {
    if (count == 1) return gpus_[0];
    return std::make_shared<CudaGroup>(std::vector(gpus_.begin(), gpus_.begin() + count), true);
  }

  std::optional<CudaShim> shim_;
  std::vector<std::shared_ptr<CudaDevice>> gpus_;
};

INSTANTIATE_TEST_SUITE_P(OnShim, CudaGroupSums, testing::Values(Machine::Shim));
INSTANTIATE_TEST_SUITE_P(OnGpu, CudaGroupSums, testing::Values(Machine::Here));

TEST_P(CudaGroupSums, GivesTheBitsOfOneGpuFromArraysOnAnyOfThem) {
  for (const auto& [ni, nj] : {std::pair{1, 1}, {257, 300}, {700, 513}, {1500, 40}}) {
    const Numbers inputs = test::random_experiment(ni, nj);
    CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0]), inputs);
    one.sum.run();
    for (int count = 2; count <= most(); ++count) {
      const auto kernel = test::load_experiment(*group(count));
      for (int home = 0; home < count; ++home) {
        CudaExperiment several(gpus_[std::size_t(home)]->gpu(), kernel, inputs);
        for (int again = 0; again < 2; ++again) {
          several.sum.run();
          several.sum.wait();
          EXPECT_EQ(several.outputs(), one.outputs()) << ni << " " << nj << " on " << count << ", home " << home;
        }
      }
    }
  }
}

// And from arrays of which some are here and some there one of them does it.
TEST_P(CudaGroupSums, TakesArraysOnBothSides) {
  const Numbers inputs = test::random_experiment(600, 100);
  for (const std::string host : {"xj", "acc"}) {
    CudaExperiment several(gpus_[0]->gpu(), test::load_experiment(*group(2)), inputs, {host});
    CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0]), inputs, {host});
    one.sum.run();
    several.sum.run();
    EXPECT_EQ(several.outputs(), one.outputs()) << host;
  }
}

// Results in the memory of inputs: of j, so that they may be stored only when all have been read.
TEST_P(CudaGroupSums, StoresResultsWhereInputsWere) {
  const Numbers inputs = test::random_experiment(700, 700);
  for (const std::set<std::string>& host : {std::set<std::string>(), test::kAllFields}) {
    CudaExperiment one(gpus_[1]->gpu(), test::load_experiment(*gpus_[1]), inputs, host);
    CudaExperiment several(gpus_[1]->gpu(), test::load_experiment(*group(most())), inputs, host);
    for (CudaExperiment* experiment : {&one, &several}) {
      experiment->sum.bind("acc", experiment->view("xj"));
      experiment->sum.run();
      experiment->sum.wait();
    }
    EXPECT_EQ(several.get("xj"), one.get("xj"));
  }
}

// Of the j that it has kept a GPU that was not asked in between knows nothing new.
TEST_P(CudaGroupSums, SendsJAnewToGpusThatWereLeftOut) {
  const Numbers inputs = test::random_experiment(1500, 300), others = test::random_experiment(1500, 300, 2);
  CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0]), inputs, test::kAllFields);
  CudaExperiment several(gpus_[0]->gpu(), test::load_experiment(*group(most())), inputs, test::kAllFields);
  for (CudaExperiment* experiment : {&one, &several}) {
    experiment->sum.keep_j(true);
    experiment->sum.run();
    experiment->put("xj", others.at("xj"));
    experiment->sum.run({.i_count = 10});  // fewer than a share
    experiment->sum.run();
  }
  EXPECT_EQ(several.outputs(), one.outputs());
}

// ---- sums over some pairs only

constexpr const char* kCutoff = R"(
input_i vec3 xi; input_j vec3 xj; param real rc = 0.21;
output(sum) vec3 f; output(sum) real n;
vec3 dx = xj - xi; real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc || i_index == j_index);
f += (rc * rc - r2) * dx; n += 1.0;
)";

class Cluster {
 public:
  static constexpr std::int64_t kCount = 2000;
  Cluster(const CudaGpu& gpu, std::shared_ptr<const Kernel> kernel)
      : sum(std::move(kernel)), x_(gpu, 24 * kCount), f_(gpu, 24 * kCount), n_(gpu, 8 * kCount) {
    std::mt19937_64 engine(1);
    std::vector<double> x(3 * kCount);
    for (double& one : x) one = double(engine() % 4096) / 4096;
    x_.put(x.data(), 24 * kCount);
    const std::vector<double> nothing(3 * kCount, -7);
    f_.put(nothing.data(), 24 * kCount);
    n_.put(nothing.data(), 8 * kCount);
    for (const char* name : {"xi", "xj"}) sum.bind(name, {x_.data(), Element::Double, kCount, 24, 8});
    sum.bind("f", {f_.data(), Element::Double, kCount, 24, 8});
    sum.bind("n", {n_.data(), Element::Double, kCount, 8, 8});
  }
  std::vector<double> results() {
    sum.wait();
    std::vector<double> all(4 * kCount);
    f_.get(all.data(), 24 * kCount);
    n_.get(all.data() + 3 * kCount, 8 * kCount);
    return all;
  }

  SumState sum;

 private:
  test::DeviceArray x_, f_, n_;
};

class CudaGroupPairs : public CudaGroupSums {
 protected:
  // `prepare` chooses the pairs. Two runs.
  void expect_alike(const std::function<void(SumState&)>& prepare) {
    const KernelSource source = build_cuda_kernel(Source{"cutoff.pipe", kCutoff}, Options{}, "");
    Cluster one(gpus_[0]->gpu(), gpus_[0]->load(source));
    prepare(one.sum);
    one.sum.run();
    one.sum.run({.accumulate = true});
    const std::vector<double> expected = one.results();
    EXPECT_GT(*std::max_element(expected.end() - Cluster::kCount, expected.end()), 10);
    for (int count = 2; count <= most(); ++count) {
      Cluster several(gpus_[1]->gpu(), group(count)->load(source));
      prepare(several.sum);
      several.sum.run();
      several.sum.run({.accumulate = true});
      EXPECT_EQ(several.results(), expected) << count;
      const SumStatistics got = several.sum.statistics(), alone = one.sum.statistics();
      EXPECT_EQ(got.pairs_tested, alone.pairs_tested);
      EXPECT_EQ(got.pairs_within, alone.pairs_within);
      EXPECT_EQ(got.searches, alone.searches);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(OnShim, CudaGroupPairs, testing::Values(Machine::Shim));
INSTANTIATE_TEST_SUITE_P(OnGpu, CudaGroupPairs, testing::Values(Machine::Here));

TEST_P(CudaGroupPairs, SearchForNeighbours) {
  expect_alike([](SumState& sum) { sum.set_pairs(PairChoice::Cutoff); });
}

TEST_P(CudaGroupPairs, KeepWhatTheyFound) {
  expect_alike([](SumState& sum) {
    sum.set_pairs(PairChoice::Cutoff);
    sum.set_skin(0.02);
  });
}

// ---- a long box, in which a GPU's share needs few of the others' particles

// Particles move, so that lists are kept for some runs and made anew before others; some cross the edges of the box.
class CudaGroupInALongBox : public CudaGroupSums {
 protected:
  static constexpr std::int64_t kCount = 2560;
  static constexpr const char* kText = R"(
input_i vec3 xi; input_i int ki; input_j vec3 xj; param vec3 box = {60, 2, 2}; param real rc = 0.7;
output(sum) vec3 f; output(sum) int n; output(min) real least;
vec3 dx = nearest_image(xj - xi, box); real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc || i_index == j_index);
f += (rc * rc - r2) * dx; n += ki; least = min(least, r2);
)";
  struct Box {
    Box(const CudaGpu& gpu, std::shared_ptr<const Kernel> kernel)
        : sum(std::move(kernel)),
          x(gpu, 24 * kCount),
          k(gpu, 4 * kCount),
          f(gpu, 24 * kCount),
          n(gpu, 4 * kCount),
          least(gpu, 8 * kCount) {
      std::mt19937_64 engine(2);
      std::uniform_real_distribution<double> place(0, 1);
      for (std::int64_t p = 0; p < kCount; ++p)
        for (const double side : {60.0, 2.0, 2.0}) at.push_back(side * place(engine));
      std::vector<std::int32_t> ones(kCount);
      for (std::size_t p = 0; p < ones.size(); ++p) ones[p] = std::int32_t(p % 3 + 1);
      k.put(ones.data(), 4 * kCount);
      const std::vector<double> nothing(3 * kCount, -7);
      f.put(nothing.data(), 24 * kCount), n.put(nothing.data(), 4 * kCount), least.put(nothing.data(), 8 * kCount);
      for (const char* name : {"xi", "xj"}) sum.bind(name, {x.data(), Element::Double, kCount, 24, 8});
      sum.bind("ki", {k.data(), Element::Int32, kCount, 4, 4});
      sum.bind("f", {f.data(), Element::Double, kCount, 24, 8});
      sum.bind("n", {n.data(), Element::Int32, kCount, 4, 4});
      sum.bind("least", {least.data(), Element::Double, kCount, 8, 8});
      sum.set_pairs(PairChoice::Cutoff);
      sum.set_skin(0.2);
    }
    using Results = std::tuple<std::vector<double>, std::vector<std::int32_t>, std::vector<double>>;
    Results step(std::mt19937_64& engine, const RunChoice& choice) {
      std::uniform_real_distribution<double> way(-0.02, 0.02);
      for (double& one : at) one += way(engine);
      x.put(at.data(), 24 * kCount);
      sum.run(choice);
      sum.wait();
      Results all{std::vector<double>(3 * kCount), std::vector<std::int32_t>(kCount), std::vector<double>(kCount)};
      f.get(std::get<0>(all).data(), 24 * kCount);
      n.get(std::get<1>(all).data(), 4 * kCount);
      least.get(std::get<2>(all).data(), 8 * kCount);
      return all;
    }
    SumState sum;
    std::vector<double> at;
    test::DeviceArray x, k, f, n, least;
  };
};

INSTANTIATE_TEST_SUITE_P(OnShim, CudaGroupInALongBox, testing::Values(Machine::Shim));
INSTANTIATE_TEST_SUITE_P(OnGpu, CudaGroupInALongBox, testing::Values(Machine::Here));

TEST_P(CudaGroupInALongBox, GivesTheBitsOfOneGpuStepForStep) {
  const KernelSource source = build_cuda_kernel(Source{"box.pipe", kText}, Options{}, "");
  Box one(gpus_[0]->gpu(), gpus_[0]->load(source)), several(gpus_[1]->gpu(), group(most())->load(source));
  std::mt19937_64 ways(5), same_ways(5);
  for (int step = 0; step < 9; ++step) {
    // Overwritten, added to, and of some i.
    RunChoice choice{.accumulate = step % 4 == 2};
    if (step == 7) choice.i_begin = 700, choice.i_count = 1500;
    EXPECT_EQ(several.step(same_ways, choice), one.step(ways, choice)) << "step " << step;
  }
  EXPECT_EQ(several.sum.statistics().searches, one.sum.statistics().searches);
  EXPECT_LT(several.sum.statistics().searches, 8);
  EXPECT_GT(several.sum.statistics().searches, 2);
}

// Of lists that it was given alone a GPU has more than of those that it shares.
TEST_P(CudaGroupInALongBox, ChangesFromOneGpuToSeveralAndBack) {
  const KernelSource source = build_cuda_kernel(Source{"box.pipe", kText}, Options{}, "");
  Box one(gpus_[0]->gpu(), gpus_[0]->load(source)), several(gpus_[0]->gpu(), group(most())->load(source));
  const test::DeviceArray other(gpus_[1]->gpu(), 24 * kCount);
  std::mt19937_64 ways(5), same_ways(5);
  for (int step = 0; step < 3; ++step) {
    // Arrays of two GPUs: the first one does it alone.
    void* const f = step % 3 == 1 ? other.data() : several.f.data();
    several.sum.bind("f", {f, Element::Double, kCount, 24, 8});
    const auto expected = one.step(ways, {}), found = several.step(same_ways, {});
    EXPECT_EQ(std::get<1>(found), std::get<1>(expected)) << step;
    EXPECT_EQ(std::get<2>(found), std::get<2>(expected)) << step;
  }
}

// Where nothing acts there is no search, and no results of the one before.
TEST_P(CudaGroupInALongBox, HasNothingToFindWithoutJ) {
  const KernelSource source = build_cuda_kernel(Source{"box.pipe", kText}, Options{}, "");
  Box one(gpus_[0]->gpu(), gpus_[0]->load(source)), several(gpus_[0]->gpu(), group(most())->load(source));
  std::mt19937_64 ways(5), same_ways(5);
  EXPECT_EQ(several.step(same_ways, {}), one.step(ways, {}));
  for (Box* box : {&one, &several}) box->sum.bind("xj", {box->x.data(), Element::Double, 0, 24, 8});
  const auto found = several.step(same_ways, {});
  EXPECT_EQ(found, one.step(ways, {}));
  EXPECT_EQ(std::get<1>(found), std::vector<std::int32_t>(kCount, 0));
}

}  // namespace
}  // namespace nbcc
