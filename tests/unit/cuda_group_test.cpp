// Several GPUs as one device: the bits of one, wherever the arrays lie and whichever pairs act.
#include "runtime/cuda/cuda_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "jit/build_kernel.h"
#include "runtime/error.h"
#include "runtime/sum/sum.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

using test::CudaExperiment;
using test::CudaShim;
using test::Numbers;

class CudaGroupTest : public testing::Test {
 protected:
  CudaGroupTest() {
    shim_.set_device_count(3);
    for (int k = 0; k < 3; ++k)
      gpus_.push_back(std::make_shared<CudaDevice>(shim_.driver(), shim_.compiler(), k, "", ""));
  }
  std::shared_ptr<KernelDevice> group(int count) {
    if (count == 1) return gpus_[0];
    return std::make_shared<CudaGroup>(std::vector(gpus_.begin(), gpus_.begin() + count));
  }

  CudaShim shim_;
  std::vector<std::shared_ptr<CudaDevice>> gpus_;
};

TEST_F(CudaGroupTest, GivesTheBitsOfOneGpuFromArraysOnAnyOfThem) {
  for (const auto& [ni, nj] : {std::pair{1, 1}, {257, 300}, {700, 513}, {1500, 40}}) {
    const Numbers inputs = test::random_experiment(ni, nj);
    CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0]), inputs);
    one.sum.run();
    for (const int count : {2, 3}) {
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

TEST_F(CudaGroupTest, GivesTheBitsOfOneGpuFromArraysOfTheHost) {
  for (const auto& [ni, nj] : {std::pair{1, 1}, {257, 300}, {1500, 513}}) {
    const Numbers inputs = test::random_experiment(ni, nj);
    CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0]), inputs, test::kAllFields);
    CudaExperiment several(gpus_[0]->gpu(), test::load_experiment(*group(3)), inputs, test::kAllFields);
    one.sum.run();
    several.sum.run();
    EXPECT_EQ(several.outputs(), one.outputs()) << ni << " " << nj;
  }
}

// One of them does it, and keeps what the parts before have accumulated.
TEST_F(CudaGroupTest, TakesTheJOfASumInParts) {
  const Numbers inputs = test::random_experiment(600, 100);
  for (const std::set<std::string>& on_host : {std::set<std::string>{}, test::kAllFields}) {
    CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0]), inputs, on_host);
    CudaExperiment several(gpus_[0]->gpu(), test::load_experiment(*group(3)), inputs, on_host);
    for (CudaExperiment* experiment : {&one, &several}) {
      ArrayView xj = experiment->view("xj"), mj = experiment->view("mj");
      for (const JPart part : {JPart::First, JPart::Last}) {
        xj.count = mj.count = 50;
        experiment->sum.bind("xj", xj);
        experiment->sum.bind("mj", mj);
        experiment->sum.set_offsets(0, part == JPart::First ? 0 : 50);
        experiment->sum.run({.part = part});
        xj.data = static_cast<std::byte*>(xj.data) + 50 * xj.stride;
        mj.data = static_cast<std::byte*>(mj.data) + 50 * mj.stride;
      }
      experiment->sum.wait();
    }
    EXPECT_EQ(several.outputs(), one.outputs());
    const Numbers expected = test::expected_sums(inputs);
    EXPECT_EQ(several.get("near"), expected.at("near"));
  }
}

// And from arrays of which some are here and some there one of them does it.
TEST_F(CudaGroupTest, TakesArraysOnBothSides) {
  const Numbers inputs = test::random_experiment(600, 100);
  for (const std::string host : {"xj", "acc"}) {
    CudaExperiment several(gpus_[0]->gpu(), test::load_experiment(*group(2)), inputs, {host});
    CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0]), inputs, {host});
    one.sum.run();
    several.sum.run();
    EXPECT_EQ(several.outputs(), one.outputs()) << host;
  }
}

TEST_F(CudaGroupTest, SharesAChoiceOfIAndAccumulates) {
  const Numbers inputs = test::random_experiment(1200, 100);
  std::vector<std::int64_t> chosen(900);
  for (std::size_t k = 0; k < chosen.size(); ++k) chosen[k] = std::int64_t((k * 7) % 1200);
  for (const std::set<std::string>& host : {std::set<std::string>(), test::kAllFields}) {
    CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0], true), inputs, host);
    CudaExperiment several(gpus_[0]->gpu(), test::load_experiment(*group(3), true), inputs, host);
    for (CudaExperiment* experiment : {&one, &several}) {
      experiment->sum.run();
      experiment->sum.run({.i_begin = 100, .i_count = 777});
      experiment->sum.run({.i_count = 900, .i_list = chosen.data()});
      experiment->sum.wait();
    }
    EXPECT_EQ(several.outputs(), one.outputs());
  }
}

// Results in the memory of inputs: of j, so that they may be stored only when all have been read.
TEST_F(CudaGroupTest, StoresResultsWhereInputsWere) {
  const Numbers inputs = test::random_experiment(700, 700);
  for (const std::set<std::string>& host : {std::set<std::string>(), test::kAllFields}) {
    CudaExperiment one(gpus_[1]->gpu(), test::load_experiment(*gpus_[1]), inputs, host);
    CudaExperiment several(gpus_[1]->gpu(), test::load_experiment(*group(3)), inputs, host);
    for (CudaExperiment* experiment : {&one, &several}) {
      experiment->sum.bind("acc", experiment->view("xj"));
      experiment->sum.run();
      experiment->sum.wait();
    }
    EXPECT_EQ(several.get("xj"), one.get("xj"));
  }
}

// Nothing is done before somebody waits, and then in the order of streams and events.
TEST_F(CudaGroupTest, OrdersItsWorkByEvents) {
  const Numbers inputs = test::random_experiment(900, 200);
  CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0]), inputs);
  CudaExperiment several(gpus_[0]->gpu(), test::load_experiment(*group(3)), inputs);
  one.sum.run();
  several.sum.run();  // loads and sizes
  several.sum.wait();
  several.put("acc", std::vector<double>(2700, -7));
  shim_.set_lazy(true);
  several.sum.run();
  {
    const CudaContextGuard guard(gpus_[0]->gpu());
    shim_.driver().stream_synchronize(nullptr);  // the caller's stream, and nothing else
  }
  shim_.set_lazy(false);
  EXPECT_EQ(several.get("acc"), one.get("acc"));
}

TEST_F(CudaGroupTest, RefusesGpusThatCannotWorkTogether) {
  const auto failure = [&](const std::vector<std::shared_ptr<CudaDevice>>& members) -> std::string {
    try {
      const CudaGroup made(members);
    } catch (const DeviceError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(failure({gpus_[0], gpus_[1], gpus_[0]}), "cuda:0 is named twice");
  shim_.set_linked(false);
  EXPECT_EQ(failure({gpus_[0], gpus_[1]}), "cuda:0 and cuda:1 cannot reach each other's memory");
  EXPECT_EQ(group(1)->name(), "cuda:0, Shim GPU, sm_90");
  shim_.set_linked(true);
  EXPECT_EQ(group(3)->name(), "cuda:0,1,2, 3 x Shim GPU, sm_90");
}

TEST_F(CudaGroupTest, AGpuThatFailsFailsTheRun) {
  const Numbers inputs = test::random_experiment(900, 200);
  for (const std::set<std::string>& host : {std::set<std::string>(), test::kAllFields}) {
    CudaExperiment several(gpus_[0]->gpu(), test::load_experiment(*group(3)), inputs, host);
    several.sum.run();
    shim_.fail("launch_kernel_ex", 2, 719);
    EXPECT_THROW(several.sum.run(), DeviceError);
    several.sum.run();
    several.sum.wait();
    CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0]), inputs, host);
    one.sum.run();
    EXPECT_EQ(several.outputs(), one.outputs());
  }
}

TEST_F(CudaGroupTest, NamesOfDevices) {
  EXPECT_EQ(cuda_ordinals("cuda"), std::vector{0});
  EXPECT_EQ(cuda_ordinals("cuda:3"), std::vector{3});
  EXPECT_EQ(cuda_ordinals("cuda:0,2,10"), (std::vector{0, 2, 10}));
  EXPECT_EQ(cuda_ordinals("cuda:all"), std::vector<int>());
  for (const char* wrong : {"cpu", "cuda:", "cuda:0,", "cuda:,1", "cuda:0;1", "cuda:-1", "cuda:alle", "cuda0,1"})
    EXPECT_FALSE(cuda_ordinals(wrong)) << wrong;
  EXPECT_EQ(cuda_ordinal("cuda:2"), 2);
  EXPECT_FALSE(cuda_ordinal("cuda:0,1"));
  EXPECT_FALSE(cuda_ordinal("cuda:all"));
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

class CudaGroupPairs : public CudaGroupTest {
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
    for (const int count : {2, 3}) {
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

TEST_F(CudaGroupPairs, SearchForNeighbours) {
  expect_alike([](SumState& sum) { sum.set_pairs(PairChoice::Cutoff); });
}

TEST_F(CudaGroupPairs, KeepWhatTheyFound) {
  expect_alike([](SumState& sum) {
    sum.set_pairs(PairChoice::Cutoff);
    sum.set_skin(0.02);
  });
}

TEST_F(CudaGroupPairs, ListsOfTheCaller) {
  const std::vector<std::int64_t> i_first{0, 500, 530, 2000}, range_first{0, 1, 3, 4}, j_begin{0, 3, 900, 100},
      j_end{2000, 500, 1000, 1999};
  expect_alike([&](SumState& sum) {
    sum.set_lists(ListArrays{3, 4, i_first.data(), nullptr, range_first.data(), j_begin.data(), j_end.data(), nullptr,
                             0, nullptr, 0});
  });
}

TEST_F(CudaGroupPairs, ListedPairs) {
  std::vector<std::int64_t> first{0}, j;
  for (std::int64_t i = 0; i < Cluster::kCount; ++i) {
    for (std::int64_t k = 0; k < i % 400; ++k) j.push_back((i * 31 + k * 7) % Cluster::kCount);
    first.push_back(std::int64_t(j.size()));
  }
  expect_alike(
      [&](SumState& sum) { sum.set_listed_pairs(Cluster::kCount, first.data(), std::int64_t(j.size()), j.data()); });
}

TEST_F(CudaGroupPairs, Batches) {
  std::vector<std::int64_t> batch(Cluster::kCount);
  for (std::size_t k = 0; k < batch.size(); ++k) batch[k] = std::int64_t(k * k / (batch.size() * 250));
  expect_alike(
      [&](SumState& sum) { sum.set_batches(16, Cluster::kCount, batch.data(), Cluster::kCount, batch.data()); });
}

}  // namespace
}  // namespace nbcc
