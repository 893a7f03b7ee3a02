// A call of the driver that fails, at every place of a run in turn: the run throws or gives the right results, and the
// next run of the same sum gives the right results in the caller's arrays, whatever the first one left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "jit/build_kernel.h"
#include "runtime/cuda/cuda_group.h"
#include "runtime/error.h"
#include "runtime/sum/sum.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/device_array.h"

namespace nbcc::test {
namespace {

constexpr std::int64_t kCount = 300;  // more than a block of a search's groups, so that two GPUs have a share each
constexpr double kSkin = 0.05, kNotWritten = -77;
constexpr const char* kText = R"(
input_i vec3 xi; input_j vec3 xj; param real rc = 0.3; output(sum) vec3 f; output(sum) real n;
vec3 dx = xj - xi; real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc || i_index == j_index);
f += (rc * rc - r2) * dx; n += 1.0;
)";

struct Way {
  const char* name;
  std::function<void(SumState&)> prepare;
  bool on_host = false, accumulates = false;
};

const std::vector<Way>& ways() {
  static const std::vector<std::int64_t> i_first{0, 50, 60, kCount}, range_first{0, 1, 3, 4}, begin{0, 3, 90, 10},
      end{kCount, 50, 95, 90},
      rows =
          [] {
            std::vector<std::int64_t> first;
            for (std::int64_t i = 0; i <= kCount; ++i) first.push_back(2 * i);
            return first;
          }(),
      others = [] {
        std::vector<std::int64_t> j;
        for (std::int64_t k = 0; k < 2 * kCount; ++k) j.push_back(k * 7 % kCount);
        return j;
      }();
  const auto all = [](SumState& sum) { sum.set_pairs(PairChoice::All); };
  const auto search = [](SumState& sum) { sum.set_pairs(PairChoice::Cutoff); };
  static const std::vector<Way> ways{
      {"all", all},
      {"all_on_host", all, true},
      {"search", search},
      {"search_on_host", search, true},
      {"search_accumulates", search, false, true},
      {"kept",
       [](SumState& sum) {
         sum.set_pairs(PairChoice::Cutoff);
         sum.set_skin(kSkin);
       }},
      {"search_but_some",
       [](SumState& sum) {
         sum.set_pairs(PairChoice::Cutoff);
         sum.set_left_out(kCount, rows.data(), std::int64_t(others.size()), others.data());
       }},
      {"all_but_some",
       [](SumState& sum) {
         sum.set_pairs(PairChoice::All);
         sum.set_left_out(kCount, rows.data(), std::int64_t(others.size()), others.data());
       }},
      {"lists",
       [](SumState& sum) {
         sum.set_lists(ListArrays{3, 4, i_first.data(), nullptr, range_first.data(), begin.data(), end.data(), nullptr,
                                  0, nullptr, 0});
       }},
      {"listed_pairs",
       [](SumState& sum) { sum.set_listed_pairs(kCount, rows.data(), std::int64_t(others.size()), others.data()); }}};
  return ways;
}

std::vector<double> places(unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<double> x(3 * kCount);
  for (double& one : x) one = double(engine() % 4096) / 4096;
  return x;
}

// Where memory is short, sums are made in smaller pieces: single precision, of at most kCount terms below 0.1.
void expect_close(const std::vector<double>& results, const std::vector<double>& expected) {
  double most = 0;
  for (std::size_t k = 0; k < results.size(); ++k) most = std::max(most, std::fabs(results[k] - expected[k]));
  EXPECT_LT(most, kCount * 0.1 * 0x1p-23 * kCount);
}

// A sum with its arrays: a first run, and then the particles are elsewhere.
class Trial {
 public:
  Trial(const CudaGpu& gpu, std::shared_ptr<const Kernel> kernel, const Way& way)
      : sum(std::move(kernel)), way_(way), x_(gpu, 24 * kCount), f_(gpu, 24 * kCount), n_(gpu, 8 * kCount) {
    const auto view = [&](DeviceArray& device, std::vector<double>& host, std::int64_t width) {
      return ArrayView{way.on_host ? static_cast<void*>(host.data()) : device.data(), Element::Double, kCount,
                       8 * width, 8};
    };
    for (const char* name : {"xi", "xj"}) sum.bind(name, view(x_, host_x_, 3));
    sum.bind("f", view(f_, host_f_, 3));
    sum.bind("n", view(n_, host_n_, 1));
    way.prepare(sum);
    put(1);
  }
  void put(unsigned seed) {
    std::ranges::copy(places(seed), host_x_.begin());  // where it is bound
    x_.put(host_x_.data(), 24 * kCount);
  }
  std::vector<double> run() {
    host_f_.assign(3 * kCount, kNotWritten);
    host_n_.assign(kCount, kNotWritten);
    f_.put(host_f_.data(), 24 * kCount);
    n_.put(host_n_.data(), 8 * kCount);
    sum.run({.accumulate = way_.accumulates});
    sum.wait();
    if (!way_.on_host) {
      f_.get(host_f_.data(), 24 * kCount);
      n_.get(host_n_.data(), 8 * kCount);
    }
    std::vector<double> results = host_f_;
    results.insert(results.end(), host_n_.begin(), host_n_.end());
    return results;
  }

  SumState sum;

 private:
  const Way& way_;
  std::vector<double> host_x_ = std::vector<double>(3 * kCount), host_f_ = host_x_, host_n_ = host_x_;
  DeviceArray x_, f_, n_;
};

class CudaFailures : public testing::TestWithParam<std::tuple<int, std::size_t>> {
 protected:
  CudaFailures() {
    shim_.set_device_count(2);
    for (int k = 0; k < 2; ++k)
      gpus_.push_back(std::make_shared<CudaDevice>(shim_.driver(), shim_.compiler(), k, "", ""));
    const int count = std::get<0>(GetParam());
    device_ = count == 1 ? std::shared_ptr<KernelDevice>(gpus_[0]) : std::make_shared<CudaGroup>(gpus_, true);
    kernel_ = device_->load(build_cuda_kernel(Source{"cutoff.pipe", kText}, Options{}, ""));
  }
  // `warm`: the run that fails is the second one of its sum.
  void expect_right_after_failures(bool warm) {
    const Way& way = ways()[std::get<1>(GetParam())];
    const auto begin = [&] {
      auto trial = std::make_unique<Trial>(gpus_[0]->gpu(), kernel_, way);
      if (warm) trial->run();
      trial->put(2);
      return trial;
    };
    const auto good = begin();
    shim_.forget_calls();
    const std::vector<double> expected = good->run();
    std::map<std::string_view, int> calls;
    for (const std::string_view function : CudaShim::functions()) calls[function] = shim_.calls(function);
    // Of a context that cannot be popped the driver itself is left wrong.
    calls.erase("ctx_pop_current");
    // One of many alike.
    calls["ctx_get_current"] = calls["ctx_push_current"] = 1;
    if (std::get<0>(GetParam()) > 1) {
      const std::set<std::string_view> of_shares{"launch_kernel", "launch_kernel_ex", "memcpy_async",
                                                 "memset_d32_async"};
      std::erase_if(calls, [&](const auto& one) { return !of_shares.contains(one.first); });
    }
    for (const auto& [function, count] : calls) {
      for (int k = 1; k <= count; ++k) {
        SCOPED_TRACE(std::string(way.name) + (warm ? ", second run: " : ", first run: ") + std::string(function) +
                     ", call " + std::to_string(k));
        const auto trial = begin();
        shim_.fail(function, k, kCudaOutOfMemory);
        std::vector<double> results = expected;
        try {
          results = trial->run();
        } catch (const std::exception&) {
        }
        shim_.succeed(function);
        expect_close(results, expected);
        expect_close(trial->run(), expected);
        if (HasFailure()) return;
      }
    }
  }

  CudaShim shim_;
  std::vector<std::shared_ptr<CudaDevice>> gpus_;
  std::shared_ptr<KernelDevice> device_;
  std::shared_ptr<const Kernel> kernel_;
};

std::string name_of(const testing::TestParamInfo<std::tuple<int, std::size_t>>& info) {
  return std::string(ways()[std::get<1>(info.param)].name) + "_on_" + std::to_string(std::get<0>(info.param));
}

class CudaFirstRunFailures : public CudaFailures {};
TEST_P(CudaFirstRunFailures, LeaveNothingWrongBehind) { expect_right_after_failures(false); }
INSTANTIATE_TEST_SUITE_P(All, CudaFirstRunFailures,
                         testing::Combine(testing::Values(1), testing::Range(std::size_t(0), ways().size())), name_of);

// On several GPUs results of a search are in rows until all are there.
class CudaLaterRunFailures : public CudaFailures {};
TEST_P(CudaLaterRunFailures, LeaveNothingWrongBehind) { expect_right_after_failures(true); }
INSTANTIATE_TEST_SUITE_P(Shared, CudaLaterRunFailures,
                         testing::Combine(testing::Values(2), testing::Values<std::size_t>(0, 2, 5, 8)), name_of);
INSTANTIATE_TEST_SUITE_P(All, CudaLaterRunFailures,
                         testing::Combine(testing::Values(1), testing::Range(std::size_t(0), ways().size())), name_of);

// pairs = cutoff searches or says that it cannot: rows of stride 0, of which there may be more than a search can
// number.
TEST(CudaSearchOfTooMany, IsRefused) {
  CudaShim shim;
  shim.set_device_count(2);
  const auto device = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
  const auto other = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 1, "", "");
  const KernelSource source = build_cuda_kernel(Source{"cutoff.pipe", kText}, Options{}, "");
  for (const auto& one :
       {std::shared_ptr<KernelDevice>(device),
        std::shared_ptr<KernelDevice>(std::make_shared<CudaGroup>(std::vector{device, other}, true))}) {
    SumState sum(one->load(source));
    DeviceArray x(device->gpu(), 24), f(device->gpu(), 24), n(device->gpu(), 8);
    sum.bind("xi", {x.data(), Element::Double, 1, 24, 8});
    sum.bind("xj", {x.data(), Element::Double, (std::int64_t(1) << 30) + 1, 0, 8});
    sum.bind("f", {f.data(), Element::Double, 1, 24, 8});
    sum.bind("n", {n.data(), Element::Double, 1, 8, 8});
    sum.set_pairs(PairChoice::Cutoff);
    try {
      sum.run();
      ADD_FAILURE() << "it must be refused";
    } catch (const UsageError& e) {
      EXPECT_STREQ(
          e.what(),
          "pairs = cutoff: on a GPU a search takes at most 1073741568 i- and j-particles, got 1 and 1073741825");
    }
  }
}

}  // namespace
}  // namespace nbcc::test
