// A call of the driver that fails, at every place of a run in turn, in every way to sum: the run says which call failed
// and with what, or gives the right results without it; nothing stays in flight, nothing is lost, and the next run of
// the same sum gives the right results in the caller's arrays, whatever the first one left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "jit/build_kernel.h"
#include "runtime/cuda/group/cuda_group.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/device_array.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

constexpr std::int64_t kCount = 300;  // more than a block of a search's groups, so that two GPUs have a share each
constexpr std::int64_t kManyJ = 600;  // a nearest neighbour among fewer particles is found without a search
constexpr double kSkin = 0.05, kNotWritten = -77, kReach = 0.3;
constexpr CudaResult kLaunchFailed = 719;
constexpr const char* kText = R"(
input_i vec3 xi; input_j vec3 xj; param real rc = 0.3; output(sum) vec3 f; output(sum) real n;
vec3 dx = xj - xi; real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc || i_index == j_index);
f += (rc * rc - r2) * dx; n += 1.0;
)";
constexpr const char* kTotalText = R"(
input_i vec3 xi; input_j vec3 xj; param real rc = 0.3; output(total) vec3 f; output(total) real n; vec3 dx = xj - xi;
real r2 = dot(dx, dx); skip_if(r2 >= rc * rc || i_index == j_index); f += (rc * rc - r2) * dx; n += 1.0;)";
constexpr const char* kTableText = R"(
input_i vec3 xi; input_i int ti; input_j vec3 xj; input_j int tj; output(sum) vec3 f; output(sum) real n;
param real rc = 0.3; param real e[2][2] = {{1, 2}, {2, 4}};
vec3 dx = xj - xi; real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc || i_index == j_index);
f += (rc * rc - r2) * dx; n += e[ti][tj];
)";
constexpr const char* kNearestText =
    "input_i vec3 xi; input_j vec3 xj; output(min) real n; vec3 dx = xj - xi; n = min(n, dot(dx, dx));";

// The pairs of a way: of j by i.
using Pairs = std::vector<std::vector<std::int64_t>>;

Pairs all_pairs() {
  std::vector<std::int64_t> every;
  for (std::int64_t j = 0; j < kCount; ++j) every.push_back(j);
  return Pairs(std::size_t(kCount), every);
}

// Two j of each i: rows for lists of pairs, and for exclusions.
struct Rows {
  std::vector<std::int64_t> first, j;
  Rows() {
    for (std::int64_t i = 0; i <= kCount; ++i) first.push_back(2 * i);
    for (std::int64_t k = 0; k < 2 * kCount; ++k) j.push_back(k * 7 % kCount);
  }
  Pairs listed() const {
    Pairs pairs(static_cast<std::size_t>(kCount));
    for (std::size_t k = 0; k < j.size(); ++k) pairs[k / 2].push_back(j[k]);
    return pairs;
  }
  Pairs excluded() const {
    Pairs pairs = all_pairs();
    for (std::size_t k = 0; k < j.size(); ++k) std::erase(pairs[k / 2], j[k]);
    return pairs;
  }
};
const Rows kRows;
const std::vector<std::int64_t> kGroupFirst{0, 50, 60, kCount}, kRangeFirst{0, 1, 3, 4}, kBegin{0, 3, 90, 10},
    kEnd{kCount, 50, 95, 90}, kBatch = [] {
      std::vector<std::int64_t> batch(kCount, 0);
      std::fill(batch.begin() + 120, batch.end(), 1);
      return batch;
    }();
const std::vector<std::int64_t> kChosen = [] {
  std::vector<std::int64_t> list;
  for (std::int64_t i = kCount; i-- > 0;) list.push_back(i);
  return list;
}();

Pairs listed_groups() {
  Pairs pairs(static_cast<std::size_t>(kCount));
  for (std::size_t g = 0; g + 1 < kGroupFirst.size(); ++g)
    for (std::int64_t r = kRangeFirst[g]; r < kRangeFirst[g + 1]; ++r)
      for (std::int64_t i = kGroupFirst[g]; i < kGroupFirst[g + 1]; ++i)
        for (std::int64_t j = kBegin[std::size_t(r)]; j < kEnd[std::size_t(r)]; ++j) pairs[std::size_t(i)].push_back(j);
  return pairs;
}

Pairs within_batches() {
  Pairs pairs = all_pairs();
  for (std::size_t i = 0; i < pairs.size(); ++i)
    std::erase_if(pairs[i], [&](std::int64_t j) { return kBatch[std::size_t(j)] != kBatch[i]; });
  return pairs;
}

struct Way {
  const char* name;
  std::function<void(SumState&)> prepare;
  Pairs (*pairs)() = all_pairs;
  const char* text = kText;
  bool on_host = false, accumulates = false, from_list = false, is_captured = false;
  // The nearest of kManyJ particles, whose positions follow those of the i.
  bool is_nearest() const { return text == kNearestText; }
  std::int64_t nj() const { return is_nearest() ? kManyJ : kCount; }
};

void exclude(SumState& sum) { sum.set_exclusions(kCount, kRows.first.data(), std::ssize(kRows.j), kRows.j.data()); }
void list_pairs(SumState& sum) {
  sum.set_listed_pairs(kCount, kRows.first.data(), std::ssize(kRows.j), kRows.j.data());
}
void list_groups(SumState& sum) {
  sum.set_lists(ListArrays{3, 4, kGroupFirst.data(), nullptr, kRangeFirst.data(), kBegin.data(), kEnd.data(), nullptr,
                           0, nullptr, 0});
}
void set_batches(SumState& sum) { sum.set_batches(2, kCount, kBatch.data(), kCount, kBatch.data()); }

const std::vector<Way>& ways() {
  const auto all = [](SumState& sum) { sum.set_pairs(PairChoice::All); };
  const auto search = [](SumState& sum) { sum.set_pairs(PairChoice::Cutoff); };
  const auto of_excluded = [] { return kRows.excluded(); };
  const auto of_listed = [] { return kRows.listed(); };
  static const std::vector<Way> ways{{"all", all},
                                     {"all_on_host", all, all_pairs, kText, true},
                                     {"search", search},
                                     {"search_on_host", search, all_pairs, kText, true},
                                     {"search_accumulates", search, all_pairs, kText, false, true},
                                     {"kept",
                                      [](SumState& sum) {
                                        sum.set_pairs(PairChoice::Cutoff);
                                        sum.set_skin(kSkin);
                                      }},
                                     {"search_but_some",
                                      [](SumState& sum) {
                                        sum.set_pairs(PairChoice::Cutoff);
                                        exclude(sum);
                                      },
                                      of_excluded},
                                     {"all_but_some",
                                      [](SumState& sum) {
                                        sum.set_pairs(PairChoice::All);
                                        exclude(sum);
                                      },
                                      of_excluded},
                                     {"lists", list_groups, listed_groups},
                                     {"listed_pairs", list_pairs, of_listed},
                                     {"chosen", all, all_pairs, kText, false, false, true},
                                     {"batches",
                                      [](SumState& sum) {
                                        set_batches(sum);
                                        sum.set_pairs(PairChoice::All);
                                      },
                                      within_batches},
                                     {"batches_that_are_searched",
                                      [](SumState& sum) {
                                        set_batches(sum);
                                        sum.set_pairs(PairChoice::Cutoff);
                                      },
                                      within_batches},
                                     {"params_of_batches",
                                      [](SumState& sum) {
                                        set_batches(sum);
                                        sum.set_pairs(PairChoice::All);
                                        sum.set_param_of_groups("rc", std::vector{kReach, kReach});
                                      },
                                      within_batches},
                                     {"tables", all, all_pairs, kTableText},
                                     {"tables_on_host", all, all_pairs, kTableText, true},
                                     {"tables_that_are_searched", search, all_pairs, kTableText},
                                     {"tables_of_listed_pairs", list_pairs, of_listed, kTableText},
                                     {"nearest", search, all_pairs, kNearestText},
                                     {"nearest_on_host", search, all_pairs, kNearestText, true},
                                     {"totals", all, all_pairs, kTotalText},
                                     {"totals_on_host", all, all_pairs, kTotalText, true},
                                     {"totals_accumulate", search, all_pairs, kTotalText, false, true, true},
                                     {"captured_totals", all, all_pairs, kTotalText, false, false, false, true},
                                     {"captured", all, all_pairs, kText, false, false, false, true},
                                     {"captured_search", search, all_pairs, kText, false, false, false, true},
                                     {"captured_tables", all, all_pairs, kTableText, false, false, false, true}};
  return ways;
}

std::vector<double> places(unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<double> x(3 * (kCount + kManyJ));
  for (double& one : x) one = double(engine() % 4096) / 4096;
  return x;
}

double squared_distance(const std::vector<double>& x, std::size_t i, std::size_t j, std::array<double, 3>& dx) {
  for (std::size_t d = 0; d < 3; ++d) dx[d] = x[3 * j + d] - x[3 * i + d];
  return dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2];
}

// What the outputs hold after a run: f, then n; of the nearest n alone.
std::vector<double> expected_of(const Way& way, unsigned seed) {
  const std::vector<double> x = places(seed);
  std::array<double, 3> dx;
  if (way.is_nearest()) {
    std::vector<double> n(kCount, std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < n.size(); ++i)
      for (std::size_t j = 0; j < std::size_t(kManyJ); ++j)
        n[i] = std::min(n[i], squared_distance(x, i, std::size_t(kCount) + j, dx));
    return n;
  }
  const double old = way.accumulates ? kNotWritten : 0;
  const std::size_t rows = way.text == kTotalText ? 1 : kCount;
  std::vector<double> results(4 * rows, old);
  const Pairs pairs = way.pairs();
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (const std::int64_t of_j : pairs[i]) {
      const auto j = std::size_t(of_j);
      const double r2 = squared_distance(x, i, j, dx);
      if (r2 >= kReach * kReach || i == j) continue;
      for (std::size_t d = 0; d < 3; ++d) results[3 * (i % rows) + d] += (kReach * kReach - r2) * dx[d];
      results[3 * rows + i % rows] += way.text == kTableText ? double((1 + i % 2) * (1 + j % 2)) : 1;
    }
  return results;
}

// Single precision, at most kCount terms below 0.1; where memory is short sums are made in smaller pieces.
void expect_close(const std::vector<double>& results, const std::vector<double>& expected) {
  ASSERT_EQ(results.size(), expected.size());
  double most = 0;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const double apart = std::fabs(results[k] - expected[k]);
    most = apart <= most ? most : apart;
  }
  EXPECT_LT(most, kCount * 0.1 * 0x1p-23 * kCount);
}

// A sum with its arrays: a first run, and then the particles are elsewhere.
class Trial {
 public:
  Trial(CudaShim& shim, const CudaGpu& gpu, std::shared_ptr<const Kernel> kernel, const Way& way)
      : sum(std::move(kernel)), way_(way), shim_(shim), gpu_(gpu), queue_(gpu) {
    for (const FieldLayout& field : sum.fields()) {
      const bool is_input = field.role == Role::InputI || field.role == Role::InputJ;
      if (!is_input && field.role != Role::Output) continue;
      const bool is_set = field.name == "xi" || field.name == "xj";
      const std::int64_t width = field.components(), of_set = kCount + kManyJ, rows = field.is_total() ? 1 : kCount;
      Array& array = arrays_[is_set ? "x" : field.name];
      array.host.resize(std::size_t(width * (is_set ? of_set : rows)));
      if (!way.on_host && !array.device) array.device = std::make_unique<DeviceArray>(gpu, 8 * array.host.size());
      for (std::size_t k = 0; k < array.host.size(); ++k) array.host[k] = double(k % 2);
      array.send();
      void* data = array.device ? array.device->data() : array.host.data();
      if (field.name == "xj" && way.is_nearest()) data = static_cast<double*>(data) + 3 * kCount;
      sum.bind(field.name, {data, Element::Double, field.role == Role::InputJ ? way.nj() : rows, 8 * width, 8});
    }
    way.prepare(sum);
    if (way.is_captured) {
      const CudaContextGuard guard(gpu);
      choice_.stream = stream_ = queue_.get();
    }
    choice_.accumulate = way.accumulates;
    if (way.from_list) choice_.i_list = kChosen.data(), choice_.i_count = kCount;
    put(1);
  }
  void put(unsigned seed) {
    Array& x = arrays_.at("x");
    std::ranges::copy(places(seed), x.host.begin());  // where it is bound
    x.send();
  }
  // Not captured, so that a capture finds all there.
  std::vector<double> warm_up() {
    fill_outputs();
    sum.run(choice_);
    sum.wait();
    return results();
  }
  std::vector<double> run() {
    if (!way_.is_captured) return warm_up();
    fill_outputs();
    shim_.begin_capture(stream_);
    try {
      sum.run(choice_);
    } catch (...) {
      shim_.end_capture(stream_);
      throw;
    }
    shim_.end_capture(stream_);
    shim_.replay(stream_);
    {
      const CudaContextGuard guard(gpu_);
      gpu_.synchronize(stream_);
    }
    return results();
  }

  SumState sum;

 private:
  struct Array {
    std::vector<double> host;
    std::unique_ptr<DeviceArray> device;
    void send() {
      if (device) device->put(host.data(), 8 * host.size());
    }
  };
  void fill_outputs() {
    for (const char* name : {"f", "n"})
      if (const auto found = arrays_.find(name); found != arrays_.end()) {
        found->second.host.assign(found->second.host.size(), kNotWritten);
        found->second.send();
      }
  }
  std::vector<double> results() {
    std::vector<double> all;
    for (const char* name : {"f", "n"})
      if (const auto found = arrays_.find(name); found != arrays_.end()) {
        auto& [host, device] = found->second;
        if (device) device->get(host.data(), 8 * host.size());
        all.insert(all.end(), host.begin(), host.end());
      }
    return all;
  }

  const Way& way_;
  CudaShim& shim_;
  const CudaGpu& gpu_;
  std::map<std::string, Array> arrays_;
  CudaOwnStream queue_;
  CudaStream* stream_ = nullptr;
  RunChoice choice_;
};

// A driver that cannot free, or pop a context, is left wrong by that itself.
const std::set<std::string_view> kReleases{
    "ctx_pop_current",           "mem_free", "mem_free_host", "event_destroy", "stream_destroy", "module_unload",
    "device_primary_ctx_release"};
// One call is like another.
const std::set<std::string_view> kOfContexts{"ctx_get_current", "ctx_push_current"};

// What the message of a call that has failed must say: which it was, and its error.
void expect_named(const std::string& message, std::string_view function, CudaResult result) {
  if (result == kCudaOutOfMemory && message.find("out of memory of ") != message.npos) return;
  const char* const error = result == kCudaOutOfMemory ? ": CUDA_ERROR_OUT_OF_MEMORY: out of memory"
                                                       : ": CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure";
  const std::size_t at = message.find(error);
  EXPECT_TRUE(at != message.npos && at > 4) << function << " failed, and the message is: " << message;
}

class CudaFailures : public testing::Test {
 protected:
  CudaFailures() { shim_.set_device_count(2); }

  // Driver function -> number of calls since forget_calls().
  std::map<std::string_view, int> calls_now() const {
    std::map<std::string_view, int> calls;
    for (const std::string_view function : CudaShim::functions()) {
      const int count = shim_.calls(function);
      if (count > 0 && !kReleases.contains(function)) calls[function] = kOfContexts.contains(function) ? 1 : count;
    }
    return calls;
  }
  // Every call in turn. `attempt` throws what the failure gives; true: it went well without. `again`: after either.
  void fail_each(const std::map<std::string_view, int>& calls, const std::string& what,
                 const std::function<void()>& prepare, const std::function<void()>& attempt,
                 const std::function<void(bool threw)>& again) {
    for (const auto& [function, count] : calls)
      for (int k = 1; k <= count; ++k)
        for (const CudaResult result : {kLaunchFailed, kCudaOutOfMemory}) {
          if (result == kCudaOutOfMemory && function != "mem_alloc" && function != "mem_host_alloc") continue;
          SCOPED_TRACE(what + ": " + std::string(function) + ", call " + std::to_string(k) + ", error " +
                       std::to_string(result));
          const int held = shim_.held();
          prepare();
          shim_.fail(function, k, result);
          bool threw = true;
          try {
            attempt();
            threw = false;
          } catch (const DeviceError& e) {
            expect_named(e.what(), function, result);
          } catch (const std::exception& e) {
            ADD_FAILURE() << "not a DeviceError: " << e.what();
          }
          shim_.succeed(function);
          EXPECT_TRUE(threw || may_pass(function, result)) << "the failure is passed over";
          again(threw);
          EXPECT_EQ(shim_.held(), held) << "memory, streams or events are left";
          ++trials_;
          if (HasFailure()) return;
        }
  }
  // Memory that is short makes smaller pieces; an event that cannot be recorded is waited for instead.
  static bool may_pass(std::string_view function, CudaResult result) {
    return result == kCudaOutOfMemory || function == "event_record" || function == "event_create";
  }

  CudaShim shim_;
  int trials_ = 0;
};

class CudaRunFailures : public CudaFailures, public testing::WithParamInterface<std::tuple<int, std::size_t>> {
 protected:
  // `warm`: the run that fails is the second one of its sum.
  void expect_right_after_failures(bool warm) {
    const auto& [count, number] = GetParam();
    const Way& way = ways()[number];
    shim_.set_lazy(true);
    std::vector<std::shared_ptr<CudaDevice>> gpus;
    for (int k = 0; k < 2; ++k)
      gpus.push_back(std::make_shared<CudaDevice>(shim_.driver(), shim_.compiler(), k, "", ""));
    const std::shared_ptr<KernelDevice> device =
        count == 1 ? std::shared_ptr<KernelDevice>(gpus[0]) : std::make_shared<CudaGroup>(gpus, true);
    const auto kernel = device->load(build_cuda_kernel(Source{"cutoff.pipe", way.text}, Options{}, ""));
    const std::vector<double> expected = expected_of(way, 2);
    std::unique_ptr<Trial> trial;
    const auto begin = [&] {
      trial = std::make_unique<Trial>(shim_, gpus[0]->gpu(), kernel, way);
      if (warm) trial->warm_up();
      trial->put(2);
    };
    begin();
    expect_close(trial->run(), expected);  // loads what stays loaded
    begin();
    shim_.forget_calls();
    expect_close(trial->run(), expected);
    const std::map<std::string_view, int> calls = calls_now();
    trial.reset();
    if (HasFailure()) return;
    fail_each(
        calls, way.name, begin, [&] { expect_close(trial->run(), expected); },
        [&](bool threw) {
          if (threw && way.on_host) {
            EXPECT_EQ(shim_.in_flight(), 0) << "right after the failure";
          }
          trial->sum.wait();
          if (!way.is_captured) {  // a graph is the caller's to wait for
            EXPECT_EQ(shim_.in_flight(), 0) << "after wait()";
          }
          expect_close(trial->run(), expected);
          trial.reset();
        });
    EXPECT_GT(trials_, 5);
  }
};

std::string name_of(const testing::TestParamInfo<std::tuple<int, std::size_t>>& info) {
  return std::string(ways()[std::get<1>(info.param)].name) + "_on_" + std::to_string(std::get<0>(info.param));
}

const auto kWays = testing::ValuesIn(sampled_range(std::size_t(0), ways().size(), 3));
class CudaFirstRunFailures : public CudaRunFailures {};
TEST_P(CudaFirstRunFailures, LeaveNothingWrongBehind) {
  if (ways()[std::get<1>(GetParam())].is_captured) return;  // where nothing is there a capture is refused
  expect_right_after_failures(false);
}
INSTANTIATE_TEST_SUITE_P(All, CudaFirstRunFailures, testing::Combine(testing::Values(1, 2), kWays), name_of);

class CudaLaterRunFailures : public CudaRunFailures {};
TEST_P(CudaLaterRunFailures, LeaveNothingWrongBehind) {
  const auto& [count, number] = GetParam();
  if (ways()[number].is_captured && count > 1) return;  // it is refused
  expect_right_after_failures(true);
}
INSTANTIATE_TEST_SUITE_P(All, CudaLaterRunFailures, testing::Combine(testing::Values(1, 2), kWays), name_of);

// Failures from the opening of a GPU on: properties, context, kernels.
class CudaOpeningFailures : public CudaFailures, public testing::WithParamInterface<std::tuple<int, const char*>> {};
TEST_P(CudaOpeningFailures, LeaveNothingWrongBehind) {
  const auto& [count, name] = GetParam();
  Way way = *std::ranges::find(ways(), std::string_view(name), [](const Way& w) { return std::string_view(w.name); });
  way.on_host = true;
  const KernelSource source = build_cuda_kernel(Source{"cutoff.pipe", way.text}, Options{}, "");
  const std::vector<double> expected = expected_of(way, 1);
  const auto attempt = [&] {
    std::vector<std::shared_ptr<CudaDevice>> gpus;
    for (int k = 0; k < count; ++k)
      gpus.push_back(std::make_shared<CudaDevice>(shim_.driver(), shim_.compiler(), k, "", ""));
    const std::shared_ptr<KernelDevice> device =
        count == 1 ? std::shared_ptr<KernelDevice>(gpus[0]) : std::make_shared<CudaGroup>(gpus, true);
    Trial trial(shim_, gpus[0]->gpu(), device->load(source), way);
    expect_close(trial.run(), expected);
  };
  shim_.forget_calls();
  attempt();
  const std::map<std::string_view, int> calls = calls_now();
  if (HasFailure()) return;
  fail_each(calls, way.name, [] {}, attempt, [&](bool) { attempt(); });
  EXPECT_GT(trials_, 20);
}
const auto kTexts = sampled({"all", "search", "all_but_some", "lists", "listed_pairs", "tables", "nearest"}, 3);
INSTANTIATE_TEST_SUITE_P(One, CudaOpeningFailures, testing::Combine(testing::Values(1), testing::ValuesIn(kTexts)));
INSTANTIATE_TEST_SUITE_P(Two, CudaOpeningFailures, testing::Combine(testing::Values(2), testing::Values("all")));

}  // namespace
}  // namespace nbcc::test
