// Runs on the shim with the limits of the smallest GPU that is supported: every pair method is planned and launched,
// and gives exactly the sums of a loop over all pairs; what the driver reports reaches sources and predictions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/asked.h"
#include "tests/support/cuda_shim.h"

namespace nbcc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::int64_t kN = 3000;
constexpr double kReach = 0.125;

// Coordinates are multiples of 2^-10, so that floats hold all squared distances exactly.
const char* const kText = R"(
input_i vec3 xi; input_j vec3 xj; input_j real mj; param real rc; output(sum) real mass; output(sum) real number;
vec3 dx = xj - xi; skip_if(dot(dx, dx) >= rc * rc); mass += mj; number += 1.0;
)";

struct Particles {
  std::vector<double> x, m;
};

Particles random_particles() {
  Particles made;
  unsigned state = 1;
  const auto next = [&](unsigned below) { return (state = state * 1664525u + 1013904223u) >> 8 & (below - 1); };
  for (std::int64_t k = 0; k < 3 * kN; ++k) made.x.push_back(double(next(1024)) / 1024);
  for (std::int64_t k = 0; k < kN; ++k) made.m.push_back(double(next(8)));
  return made;
}

using Sums = std::vector<std::vector<double>>;  // [output][i]

// The j of an i: from the first to the last but one.
template <typename Range>
Sums expected(const Particles& p, const Range& range_of) {
  Sums sums(2, std::vector<double>(std::size_t(kN), 0));
  for (std::size_t i = 0; i < std::size_t(kN); ++i) {
    const auto [begin, end] = range_of(std::int64_t(i));
    for (auto j = std::size_t(begin); j < std::size_t(end); ++j) {
      double square = 0;
      for (std::size_t d = 0; d < 3; ++d)
        square += (p.x[3 * j + d] - p.x[3 * i + d]) * (p.x[3 * j + d] - p.x[3 * i + d]);
      if (square < kReach * kReach) sums[0][i] += p.m[j], sums[1][i] += 1;
    }
  }
  return sums;
}

// Notes the sources that a device compiles.
struct Noting final : CudaCompiler {
  explicit Noting(std::shared_ptr<const CudaCompiler> compiler) : inner(std::move(compiler)) {}
  std::string identity() const override { return inner->identity(); }
  std::vector<std::string> architectures() const override { return inner->architectures(); }
  CudaCode compile(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                   Form form) const override {
    sources.push_back(text);
    return inner->compile(text, architecture, config, form);
  }
  std::shared_ptr<const CudaCompiler> inner;
  mutable std::vector<std::string> sources;
};

class SmallGpu : public testing::Test {
 protected:
  void open(const CudaShim::Device& kind) {
    shim_.set_device(kind);
    compiler_ = std::make_shared<Noting>(shim_.compiler());
    device_.emplace(shim_.driver(), compiler_, 0, "", "");
  }
  void load(Precision precision = Precision::Single) {
    kernel_ = device_->load(build_cuda_kernel(parse({"near.pipe", kText}), {.precision = precision}, ""));
    sum_.emplace(kernel_);
    bind("xi", particles_.x, 3);
    bind("xj", particles_.x, 3);
    bind("mj", particles_.m, 1);
    bind("mass", sums_[0], 1);
    bind("number", sums_[1], 1);
    sum_->set_param("rc", {&kReach, 1});
  }
  void bind(const char* name, std::vector<double>& values, int width) {
    sum_->bind(name, {values.data(), Element::Double, std::int64_t(values.size()) / width, 8 * width, 8});
  }
  Sums run(PairChoice pairs) {
    sums_[0].assign(std::size_t(kN), -1), sums_[1].assign(std::size_t(kN), -1);
    sum_->set_pairs(pairs);
    method_ = sum_->plan().method->name;
    sum_->run();
    sum_->wait();
    return sums_;
  }

  CudaShim shim_;
  std::shared_ptr<Noting> compiler_;
  std::optional<CudaDevice> device_;
  std::shared_ptr<const Kernel> kernel_;
  std::optional<SumState> sum_;
  Particles particles_ = random_particles();
  Sums sums_{std::vector<double>(std::size_t(kN)), std::vector<double>(std::size_t(kN))};
  std::string method_;
};

TEST_F(SmallGpu, RunsEveryPairMethod) {
  open(CudaShim::small_device());
  const auto all = [](std::int64_t) { return std::pair<std::int64_t, std::int64_t>{0, kN}; };
  const Sums of_all = expected(particles_, all);
  for (const Precision precision : {Precision::Single, Precision::Double}) {
    SCOPED_TRACE(name(precision));
    load(precision);
    EXPECT_EQ(run(PairChoice::All), of_all);
    EXPECT_EQ(method_, "all pairs");
    EXPECT_EQ(run(PairChoice::Cutoff), of_all);
    EXPECT_EQ(method_, "search");
    // Two multiprocessors search from 2e6 pairs on, and there are 9e6.
    EXPECT_EQ(run(PairChoice::Auto), of_all);
    EXPECT_EQ(method_, "search");
    const std::vector<std::int64_t> i_first{0, 1000, kN}, range_first{0, 1, 2}, begin{500, 0}, end{kN, 700};
    sum_->set_lists(ListArrays{2, 2, i_first.data(), nullptr, range_first.data(), begin.data(), end.data(), nullptr, kN,
                               nullptr, 0});
    const auto listed = [](std::int64_t i) {
      return i < 1000 ? std::pair<std::int64_t, std::int64_t>{500, kN} : std::pair<std::int64_t, std::int64_t>{0, 700};
    };
    EXPECT_EQ(run(PairChoice::Auto), expected(particles_, listed));
    EXPECT_EQ(method_, "lists");
  }
}

TEST_F(SmallGpu, DriverLimitsReachTheSourceOfASearch) {
  const std::string small = "#define NBCC_SHARED_BYTES 65536\n#define NBCC_RESERVED_SHARED_BYTES 0\n";
  const std::string large = "#define NBCC_SHARED_BYTES 233472\n#define NBCC_RESERVED_SHARED_BYTES 1024\n";
  for (const auto& [kind, macros] : {std::pair{CudaShim::small_device(), small}, {CudaShim::Device{}, large}}) {
    open(kind);
    load();
    run(PairChoice::Cutoff);
    ASSERT_EQ(compiler_->sources.size(), 2u);
    EXPECT_THAT(compiler_->sources, ElementsAre(Not(HasSubstr("#define NBCC_SHARED_BYTES")), StartsWith(macros)));
  }
}

// A sum in double precision is predicted to take longer where the driver reports slow double arithmetic.
TEST_F(SmallGpu, SlowDoublesMakeShorterLaunches) {
  std::vector<std::int64_t> i_first, range_first;
  for (std::int64_t k = 0; k <= kN / 30; ++k) i_first.push_back(30 * k), range_first.push_back(k);
  const std::vector<std::int64_t> begin(kN / 30, 0), end(kN / 30, kN);
  const auto launches_of = [&](int float_to_double, Precision precision, bool lists) {
    CudaShim::Device kind = CudaShim::small_device();
    kind.float_to_double = float_to_double;
    kind.clock_kilohertz = 3000;
    open(kind);
    load(precision);
    if (lists)
      sum_->set_lists(ListArrays{kN / 30, kN / 30, i_first.data(), nullptr, range_first.data(), begin.data(),
                                 end.data(), nullptr, kN, nullptr, 0});
    else
      sum_->set_pairs(PairChoice::All);
    shim_.forget_calls();
    Asked asked;
    sum_->run({.progress = &asked.progress});
    sum_->wait();
    return shim_.calls("launch_kernel") + shim_.calls("launch_kernel_ex");
  };
  for (const bool lists : {false, true}) {
    SCOPED_TRACE(lists ? "lists" : "all pairs");
    const int of_double = launches_of(2, Precision::Double, lists), of_float = launches_of(2, Precision::Single, lists);
    EXPECT_GT(launches_of(32, Precision::Double, lists), of_double);
    EXPECT_EQ(launches_of(32, Precision::Single, lists), of_float);
  }
}

}  // namespace
}  // namespace nbcc::test
