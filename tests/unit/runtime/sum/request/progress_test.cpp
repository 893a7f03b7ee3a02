// Runs that ask a Progress, on the CPU: how much work is done between two questions, and what an interrupted run
// leaves.
#include "runtime/sum/request/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compiler/source/parse.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/asked.h"
#include "tests/support/cpu_run.h"

namespace nbcc {
namespace {

using test::Asked;

constexpr const char* kAll =
    "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) real s;\n"
    "vec3 d = xj - xi; s += mj / (1 + dot(d, d));\n";
constexpr const char* kCutoff =
    "input_i vec3 xi; input_j vec3 xj; input_j real mj; param real rc = 0.2; output(sum) real s;\n"
    "vec3 d = xj - xi; real r2 = dot(d, d); if (r2 < rc * rc) s += mj * (rc - r2);\n";
constexpr const char* kNearest =
    "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(min) real s; output(argmin) index near;\n"
    "vec3 d = xj - xi; real r2 = dot(d, d) + 0 * mj; s = min(s, r2); near = argmin(near, r2);\n";

// A kind of run. largest: the share of the work that may be done between two questions.
struct ProgressCase {
  std::string name;
  const char* text;
  std::int64_t ni, nj;
  std::function<void(SumState&, std::int64_t ni, std::int64_t nj)> prepare;
  std::function<double(const KernelSource&)> largest;
  bool keeps_outputs;  // of a run that is interrupted
};

std::vector<std::int64_t> counted_up(std::int64_t count, std::int64_t step) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = std::int64_t(k) * step;
  return numbers;
}

// Ten groups, on each of which all j act.
void set_lists(SumState& sum, std::int64_t ni, std::int64_t nj) {
  const std::vector<std::int64_t> i_first = counted_up(11, ni / 10), range_first = counted_up(11, 1), begin(10, 0),
                                  end(10, nj);
  sum.set_lists(ListArrays{10, 10, i_first.data(), nullptr, range_first.data(), begin.data(), end.data(), nullptr, 0,
                           nullptr, 0});
}

void list_pairs(SumState& sum, std::int64_t ni, std::int64_t nj) {
  const std::int64_t of_each = 400;
  const std::vector<std::int64_t> first = counted_up(ni + 1, of_each);
  std::vector<std::int64_t> j(std::size_t(ni * of_each));
  for (std::size_t k = 0; k < j.size(); ++k) j[k] = std::int64_t(k * 7) % nj;
  sum.set_listed_pairs(ni, first.data(), std::int64_t(j.size()), j.data());
}

void set_batches(SumState& sum, std::int64_t ni, std::int64_t nj) {
  std::vector<std::int64_t> of_i(static_cast<std::size_t>(ni)), of_j(static_cast<std::size_t>(nj));
  for (std::size_t k = 0; k < of_i.size(); ++k) of_i[k] = std::int64_t(k) * 4 / ni;
  for (std::size_t k = 0; k < of_j.size(); ++k) of_j[k] = std::int64_t(k) * 4 / nj;
  sum.set_batches(4, ni, of_i.data(), nj, of_j.data());
}

void search(SumState& sum, std::int64_t, std::int64_t) { sum.set_pairs(PairChoice::Cutoff); }

std::vector<ProgressCase> cases() {
  const auto tile = [](double ni, double nj) {
    return [=](const KernelSource& source) { return 64.0 * double(source.tile) / (ni * nj); };
  };
  const auto nothing = [](SumState&, std::int64_t, std::int64_t) {};
  const auto share = [](double value) { return [=](const KernelSource&) { return value; }; };
  return {{"blocks", kAll, 3000, 9000, nothing, tile(3000, 9000), false},
          {"segments", kAll, 200, 60000, nothing, tile(200, 60000), true},
          {"search", kCutoff, 4000, 4000, search, share(1.0 / 250), true},
          {"lists", kAll, 3000, 9000, set_lists, share(300.0 * 4096 / (3000.0 * 9000)), true},
          {"pairs", kAll, 3000, 3000, list_pairs, share((4096 + 64 * 16) / (3000.0 * 400)), true},
          {"nearest", kNearest, 4000, 40000, search, share(0.26), true},
          {"batches", kCutoff, 8000, 8000,
           [](SumState& sum, std::int64_t ni, std::int64_t nj) {
             set_batches(sum, ni, nj);
             search(sum, ni, nj);
           },
           share(1.0 / 125), false}};
}

// A case's particles and outputs, bound to a sum.
class Bound {
 public:
  Bound(const ProgressCase& one, int threads)
      : device_(threads, detect_isa(), make_cpu_toolchain(), "", ""),
        kernel_(device_.load(build_cpu_kernel(parse({"progress.pipe", one.text}), {}, detect_isa(), ""))),
        sum(kernel_),
        s(std::size_t(one.ni), -7.0) {
    xi_ = places(one.ni, 1), xj_ = places(one.nj, 2);
    m_.assign(std::size_t(one.nj), 1.0);
    sum.bind("xi", {xi_.data(), Element::Double, one.ni, 24, 8});
    sum.bind("xj", {xj_.data(), Element::Double, one.nj, 24, 8});
    sum.bind("mj", {m_.data(), Element::Double, one.nj, 8, 8});
    sum.bind("s", {s.data(), Element::Double, one.ni, 8, 8});
    if (one.text == kNearest) sum.ignore("near");
    one.prepare(sum, one.ni, one.nj);
  }
  const KernelSource& source() const { return kernel_->source; }

 private:
  static std::vector<double> places(std::int64_t count, unsigned seed) {
    std::vector<double> values(std::size_t(3 * count));
    for (double& value : values) value = double((seed = seed * 1664525 + 1013904223) >> 8) / double(1 << 24);
    return values;
  }
  CpuDevice device_;
  std::shared_ptr<const Kernel> kernel_;
  std::vector<double> xi_, xj_, m_;

 public:
  SumState sum;
  std::vector<double> s;
};

TEST(Progress, EveryKindOfRunAsksOften) {
  for (const ProgressCase& one : cases()) {
    SCOPED_TRACE(one.name);
    Bound bound(one, 1);
    Asked asked;
    bound.sum.run({.progress = &asked.progress});
    EXPECT_TRUE(std::ranges::is_sorted(asked.fractions));
    double before = 0, largest = 0;
    for (const double done : asked.fractions) largest = std::max(largest, done - std::exchange(before, done));
    EXPECT_LE(std::max(largest, 1 - before), one.largest(bound.source()) * (1 + 1e-9));
  }
}

TEST(Progress, IsAskedByTheThreadOfTheRunAlone) {
  for (const ProgressCase& one : cases()) {
    SCOPED_TRACE(one.name);
    Bound bound(one, 3);
    Asked asked;
    bound.sum.run({.progress = &asked.progress});
    EXPECT_EQ(asked.threads, std::set{std::this_thread::get_id()});
  }
}

TEST(Progress, InterruptsEveryKindOfRunAndTheNextIsRight) {
  for (const ProgressCase& one : cases()) {
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(one.name + ", threads: " + std::to_string(threads));
      Bound bound(one, threads);
      Asked all;
      bound.sum.run({.progress = &all.progress});
      const std::vector<double> expected = bound.s;
      const std::size_t times = all.fractions.size();
      if (threads == 1) {
        ASSERT_GT(times, 10u);
      }
      // The last question comes before anything is stored.
      for (const std::size_t k : {std::size_t(1), std::size_t(2), std::max<std::size_t>(times / 8, 1),
                                  threads == 1 ? times : std::max<std::size_t>(times / 4, 1)}) {
        std::ranges::fill(bound.s, -7.0);
        Asked asked(k);
        bool interrupted = false;
        try {
          bound.sum.run({.progress = &asked.progress});
        } catch (const Interrupted&) {
          interrupted = true;
        }
        if (!interrupted && threads > 1 && asked.fractions.size() < k) {
          // The other thread took most of the work this time, so this one asked less often than before.
          EXPECT_GT(k, 1u) << "it does not ask at all";
          EXPECT_EQ(bound.s, expected);
          continue;
        }
        EXPECT_TRUE(interrupted);
        EXPECT_EQ(asked.fractions.size(), k) << "it goes on asking";
        EXPECT_NE(bound.s, expected);
        // One thread has no segments to share.
        const bool keeps = one.keeps_outputs && (one.name != "segments" || threads > 1);
        for (std::size_t i = 0; i < bound.s.size(); ++i)
          ASSERT_TRUE(bound.s[i] == -7.0 || (!keeps && bound.s[i] == expected[i])) << i;
        bound.sum.run();
        EXPECT_EQ(bound.s, expected);
      }
    }
  }
}

TEST(Progress, OfASumInPartsBeginsAnew) {
  const ProgressCase one = cases()[0];
  Bound bound(one, 1);
  bound.sum.run();
  const std::vector<double> expected = bound.s;
  bound.sum.run({.part = JPart::First});
  Asked asked(5);
  EXPECT_THROW(bound.sum.run({.part = JPart::Next, .progress = &asked.progress}), Interrupted);
  EXPECT_THROW(bound.sum.run({.part = JPart::Last}), UsageError);
  bound.sum.run();
  EXPECT_EQ(bound.s, expected);
}

TEST(Progress, OfASearchForNeighbours) {
  const ProgressCase one = cases()[2];
  Bound bound(one, 1);
  bound.sum.set_pairs(PairChoice::Auto);
  Asked all;
  const FoundPairs expected = bound.sum.find_pairs(&all.progress);
  EXPECT_TRUE(std::ranges::is_sorted(all.fractions));
  EXPECT_EQ(all.fractions.back(), 1);
  Asked asked(all.fractions.size() / 2);
  EXPECT_THROW(bound.sum.find_pairs(&asked.progress), Interrupted);
  EXPECT_EQ(bound.sum.find_pairs().j, expected.j);
}

// A particle that is located, packed or sorted is no reason to ask; a chunk of them is.
TEST(Progress, IsAskedWhileParticlesArePackedAndSorted) {
  const ProgressCase one{"far", kCutoff, 200'000, 200'000, search, {}, true};
  Bound bound(one, 1);
  bound.sum.set_param("rc", std::array{1e-9});
  Asked asked(100);
  EXPECT_THROW(bound.sum.run({.progress = &asked.progress}), Interrupted);
  EXPECT_EQ(asked.fractions.back(), 0);
}

// Small sums do not ask at all, and the number of questions depends on the time alone.
TEST(Progress, IsSeldomAsked) {
  Bound bound({"small", kAll, 4096, 4096, [](SumState&, std::int64_t, std::int64_t) {}, {}, false}, 2);
  int calls = 0;
  const auto start = Progress::Clock::now();
  Progress progress([&](double) { return ++calls < 0; });
  bound.sum.run({.progress = &progress});
  EXPECT_LE(calls, (Progress::Clock::now() - start) / Progress::kPeriod);
}

}  // namespace
}  // namespace nbcc
