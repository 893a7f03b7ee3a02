// Runs on GPUs that ask a Progress: launches that would take long are cut, the bits stay, and an interrupt comes
// through.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cuda/group/cuda_group.h"
#include "runtime/cuda/launch/cuda_pace.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/asked.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

using test::Asked;
using test::CudaExperiment;
using test::CudaShim;

const std::set<std::string> kPlaces[] = {{}, test::kAllFields, {"xj", "mj"}, {"acc", "pot", "near", "far"}, {"near"}};

// GPUs of so slow a clock that every launch is predicted to take long.
class CudaProgress : public testing::Test {
 protected:
  CudaProgress() {
    shim_.set_device({.multiprocessors = 2, .clock_kilohertz = 1});
    shim_.set_device_count(3);
    for (int k = 0; k < 3; ++k)
      gpus_.push_back(std::make_shared<CudaDevice>(shim_.driver(), shim_.compiler(), k, "", ""));
    kernel_ = test::load_experiment(*gpus_[0]);
  }
  CudaExperiment experiment(const std::set<std::string>& on_host = {}) {
    return {gpus_[0]->gpu(), kernel_, inputs_, on_host};
  }
  int launches() const { return shim_.calls("launch_kernel") + shim_.calls("launch_kernel_ex"); }
  // Of one run; what it threw is thrown.
  int launches_of(CudaExperiment& experiment, const RunChoice& choice) {
    shim_.forget_calls();
    experiment.sum.run(choice);
    experiment.sum.wait();
    return launches();
  }

  CudaShim shim_;
  std::vector<std::shared_ptr<CudaDevice>> gpus_;
  std::shared_ptr<const Kernel> kernel_;
  const test::Numbers inputs_ = test::random_experiment(6000, 120);
};

TEST_F(CudaProgress, LongLaunchesAreCutAndTheBitsStay) {
  for (const auto& on_host : kPlaces) {
    SCOPED_TRACE(testing::PrintToString(on_host));
    CudaExperiment whole = experiment(on_host), cut = experiment(on_host);
    const int of_whole = launches_of(whole, {});
    Asked asked;
    EXPECT_GT(launches_of(cut, {.progress = &asked.progress}), of_whole);
    EXPECT_EQ(cut.outputs(), whole.outputs());
    EXPECT_TRUE(std::ranges::is_sorted(asked.fractions));
    ASSERT_FALSE(asked.fractions.empty());
    EXPECT_GT(asked.fractions.back(), 0.5);
  }
}

TEST_F(CudaProgress, NothingIsCutOnAFastGpu) {
  shim_.set_device({.multiprocessors = 2});
  CudaDevice fast(shim_.driver(), shim_.compiler(), 0, "", "");
  const auto kernel = test::load_experiment(fast);
  CudaExperiment one(fast.gpu(), kernel, inputs_);
  Asked asked;
  EXPECT_EQ(launches_of(one, {.progress = &asked.progress}), launches_of(one, {}));
}

TEST_F(CudaProgress, AnInterruptComesThroughBetweenLaunchesAndTheNextRunIsRight) {
  for (const auto& on_host : kPlaces) {
    SCOPED_TRACE(testing::PrintToString(on_host));
    CudaExperiment whole = experiment(on_host), cut = experiment(on_host);
    launches_of(whole, {});
    Asked all;
    const int of_all = launches_of(cut, {.progress = &all.progress});
    const CudaExperiment fresh = experiment(on_host);
    for (const char* field : {"acc", "pot", "near", "far"}) cut.put(field, fresh.get(field));
    shim_.forget_calls();
    Asked asked(1);
    EXPECT_THROW(cut.sum.run({.progress = &asked.progress}), Interrupted);
    EXPECT_EQ(asked.fractions.size(), 1u);
    EXPECT_LT(launches(), of_all);
    cut.sum.wait();
    if (on_host == test::kAllFields) {
      EXPECT_EQ(cut.outputs(), fresh.outputs());
    }
    cut.sum.run();
    cut.sum.wait();
    EXPECT_EQ(cut.outputs(), whole.outputs());
  }
}

TEST_F(CudaProgress, NoMoreThanOneLaunchIsAheadOfTheGpu) {
  CudaExperiment cut = experiment();
  Asked all;
  launches_of(cut, {.progress = &all.progress});
  shim_.set_lazy(true);
  shim_.forget_calls();
  // Asked while the first launch, of which nothing has been done yet, is waited for.
  Asked asked(1);
  EXPECT_THROW(cut.sum.run({.progress = &asked.progress}), Interrupted);
  EXPECT_EQ(launches(), 1);
  shim_.set_lazy(false);
  cut.sum.wait();
}

TEST_F(CudaProgress, IsAskedWhileTheWorkIsWaitedFor) {
  CudaExperiment one = experiment();
  one.sum.run();
  one.sum.wait();
  const auto expected = one.outputs();
  one.put("acc", std::vector<double>(18000, -7.0));
  shim_.set_lazy(true);
  one.sum.run();
  Asked asked(1);
  EXPECT_THROW(one.sum.wait(&asked.progress), Interrupted);
  one.sum.wait();
  shim_.set_lazy(false);
  EXPECT_EQ(one.outputs(), expected);
}

TEST_F(CudaProgress, ACapturedRunIsNeitherCutNorAsks) {
  CudaExperiment one = experiment();
  launches_of(one, {});
  const auto expected = one.outputs();
  CudaOwnStream queue(gpus_[0]->gpu());
  const CudaContextGuard guard(gpus_[0]->gpu());
  one.put("acc", std::vector<double>(18000, -7.0));
  shim_.forget_calls();
  shim_.begin_capture(queue.get());
  Asked asked;
  one.sum.run({.stream = queue.get(), .progress = &asked.progress});
  shim_.end_capture(queue.get());
  EXPECT_EQ(launches(), 1);
  EXPECT_TRUE(asked.fractions.empty());
  shim_.replay(queue.get());
  queue.wait();
  EXPECT_EQ(one.outputs(), expected);
}

// Partial sums are laid out by the launches of the first part.
TEST_F(CudaProgress, PartsOfASumAreCutAsTheFirstOneIs) {
  for (const auto& on_host : {std::set<std::string>{}, test::kAllFields}) {
    for (const int asks : {0b000, 0b001, 0b010, 0b101, 0b111}) {
      SCOPED_TRACE(asks);
      CudaExperiment parts = experiment(on_host);
      Asked asked;
      for (int part = 0; part < 3; ++part) {
        for (const char* field : {"xj", "mj"}) {
          ArrayView view = parts.view(field);
          view.data = static_cast<std::byte*>(view.data) + part * 40 * view.stride;
          view.count = 40;
          parts.sum.bind(field, view);
        }
        parts.sum.set_offsets(0, part * 40);
        parts.sum.run({.part = JPart(part + 1), .progress = asks >> part & 1 ? &asked.progress : nullptr});
      }
      parts.sum.wait();
      static std::map<bool, test::Numbers> first;
      const auto [expected, is_new] = first.try_emplace(on_host.empty(), parts.outputs());
      EXPECT_EQ(parts.outputs(), expected->second);
      if ((asks & 1) != 0) {
        EXPECT_FALSE(asked.fractions.empty());
      }
    }
  }
}

TEST_F(CudaProgress, RunsOverListsAreCutByGroups) {
  std::vector<std::int64_t> i_first, range_first, begin, end;
  for (std::int64_t group = 0; group <= 60; ++group) i_first.push_back(100 * group), range_first.push_back(group);
  for (std::int64_t group = 0; group < 60; ++group) begin.push_back(group), end.push_back(60 + group);
  for (const auto& on_host : {std::set<std::string>{}, test::kAllFields}) {
    CudaExperiment whole = experiment(on_host), cut = experiment(on_host);
    for (CudaExperiment* one : {&whole, &cut})
      one->sum.set_lists(ListArrays{60, 60, i_first.data(), nullptr, range_first.data(), begin.data(), end.data(),
                                    nullptr, 0, nullptr, 0});
    const int of_whole = launches_of(whole, {});
    Asked asked;
    EXPECT_GT(launches_of(cut, {.progress = &asked.progress}), of_whole);
    EXPECT_EQ(cut.outputs(), whole.outputs());
    Asked impatient(2);
    EXPECT_THROW(cut.sum.run({.progress = &impatient.progress}), Interrupted);
    cut.sum.run();
    cut.sum.wait();
    EXPECT_EQ(cut.outputs(), whole.outputs());
  }
}

TEST_F(CudaProgress, OfSeveralGpusIsAskedByTheThreadOfTheRun) {
  const test::Numbers inputs = test::random_experiment(9000, 120);
  for (const auto& on_host : {std::set<std::string>{}, test::kAllFields}) {
    CudaGroup group({gpus_.begin(), gpus_.end()}, true);
    const auto kernel = test::load_experiment(group);
    CudaExperiment whole(gpus_[0]->gpu(), kernel, inputs, on_host), cut(gpus_[0]->gpu(), kernel, inputs, on_host);
    const int of_whole = launches_of(whole, {});
    Asked asked;
    EXPECT_GT(launches_of(cut, {.progress = &asked.progress}), of_whole);
    EXPECT_EQ(cut.outputs(), whole.outputs());
    EXPECT_EQ(asked.threads, std::set{std::this_thread::get_id()});
    Asked impatient(1);
    EXPECT_THROW(cut.sum.run({.progress = &impatient.progress}), Interrupted);
    cut.sum.run();
    cut.sum.wait();
    EXPECT_EQ(cut.outputs(), whole.outputs());
  }
}

}  // namespace
}  // namespace nbcc
