// A derived kernel, a pair method and a kind of result that this file alone knows: what is added to nbcc is new files
// and rows (CONTRIBUTING.md).
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/sum/plan/derived_sum.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_toolchain.h"

namespace nbcc {
namespace {

constexpr const char* kText = R"(input_i real xi;
input_j real xj;
param real scale = 2;
output(sum) real f;
f += scale * (xj - xi);
)";

// The derived kernel: sums over j of xj alone, since the sum of scale * (xj - xi) is scale * (sum of xj - nj xi). Its j
// are the caller's; its one i and its result are made.
constexpr const char* kSumOfJ = R"(input_i real nbcc_zero;
input_j real xj;
output(sum) real nbcc_sum;
nbcc_sum += xj - nbcc_zero;
)";

class WithSumOfJ final : public Derivations {
 public:
  WithSumOfJ(std::shared_ptr<const Derivations> others, Isa isa) : others_(std::move(others)) {
    const Pipeline pipeline = parse({"sum_of_j.pipe", kSumOfJ});
    auto source = std::make_shared<const KernelSource>(build_cpu_kernel(pipeline, {Precision::Double}, isa, ""));
    using From = FieldBinding::From;
    row_.kernels.push_back({"sum of j", std::move(source), {{From::Made}, {From::Caller, "xj"}, {From::Made}}});
  }
  const DerivedKernels& row(std::string_view name, Precision at_least) const override {
    return name == "sum of j" ? row_ : others_->row(name, at_least);
  }

 private:
  std::shared_ptr<const Derivations> others_;
  DerivedKernels row_;
};

// The pair method: O(ni + nj) by that kernel.
class LinearSum {
 public:
  explicit LinearSum(const Kernel& kernel) : sum_(derived_sum(kernel, "sum of j", "sum of j")) {}
  PairMethod method() {
    PairMethod row;
    row.name = "linear";
    row.estimate = [](const SumRequest& request) { return Estimate{.cost = double(request.ni + request.nj)}; };
    row.work = [](const SumRequest&) { return std::vector<DeviceWork>{}; };
    row.enqueue = [this](const SumRequest& request) { run(request); };
    return row;
  }

 private:
  void run(const SumRequest& request) {
    double zero = 0, sum = 0;
    const ArrayView at_zero{&zero, Element::Double, 1, 8, 8}, at_sum{&sum, Element::Double, 1, 8, 8};
    const MadeArray made[] = {{"nbcc_zero", at_zero}, {"nbcc_sum", at_sum}};
    SumRequest of_j = sum_->bind(request, made);
    of_j.ni = of_j.i_count = 1, of_j.i_begin = 0;
    sum_->run(of_j);
    sum_->wait(nullptr);
    const auto* const x = static_cast<const double*>(request.views[0].data);
    auto* const f = static_cast<double*>(request.views[3].data);
    for (std::int64_t i = 0; i < request.ni; ++i) f[i] = request.params[0] * (sum - double(request.nj) * x[i]);
  }

  std::unique_ptr<DerivedSum> sum_;
};

// The kind of result: the norm of an output over all i, in place of its values.
class NormOfOutput final : public RunResult {
 public:
  NormOfOutput(std::size_t field, double& norm) : field_(field), norm_(norm) {}
  SumRequest begin(const SumRequest& request) override {
    values_.resize(std::size_t(request.ni));
    views_.assign(request.views.begin(), request.views.end());
    views_[field_] = {values_.data(), Element::Double, request.ni, 8, 8};
    SumRequest with_values = request;
    with_values.views = views_;
    return with_values;
  }
  void store(const SumRequest&, std::span<const ArrayView>) override {
    norm_ = std::sqrt(std::inner_product(values_.begin(), values_.end(), values_.begin(), 0.0));
  }

 private:
  std::size_t field_;
  double& norm_;
  std::vector<double> values_;
  std::vector<ArrayView> views_;
};

TEST(Extension, ADerivedKernelAMethodAndAResultAreNewFilesAlone) {
  const Isa isa = detect_isa();
  CpuDevice device(2, isa, test::cpu_toolchain(), "", "");
  KernelSource source = build_cpu_kernel(parse({"differences.pipe", kText}), {Precision::Double}, isa, "");
  source.derivations = std::make_shared<const WithSumOfJ>(source.derivations, isa);
  const std::shared_ptr<const Kernel> kernel = device.load(std::move(source));
  const std::int64_t n = 1001;
  std::vector<double> x(std::size_t(n), 0.0), expected(x), got(x);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = double((k * 7919) % 1009) / 1009;
  const auto bind = [&](SumState& sum, std::vector<double>& f) {
    for (const char* const field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, n, 8, 8});
    sum.bind("f", {f.data(), Element::Double, n, 8, 8});
  };
  SumState plain(kernel), extended(kernel);
  LinearSum linear(*kernel);
  extended.add_method(linear.method());
  bind(plain, expected), bind(extended, got);
  plain.run();
  extended.run();
  EXPECT_EQ(extended.statistics().method, "linear");
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(got[k], expected[k], 1e-9) << k;

  double norm = 0;
  const std::vector<double> before = got;
  extended.add_result(std::make_unique<NormOfOutput>(std::size_t(3), norm));
  const std::vector<double> half{1};
  extended.set_param("scale", half);
  extended.run();
  EXPECT_EQ(got, before);
  EXPECT_NEAR(2 * norm, std::sqrt(std::inner_product(expected.begin(), expected.end(), expected.begin(), 0.0)), 1e-9);
}

}  // namespace
}  // namespace nbcc
