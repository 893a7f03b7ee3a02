// The sample by which the error of a periodic sum is measured: its exact sums come from another operator with other
// near images, so that a wrong operator of the runs is found.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/far/far_run.h"
#include "tests/support/periodic_trial.h"

namespace nbcc::test {
namespace {

constexpr std::int64_t kLarge = 17'000;  // with fewer particles all near images act one by one

class PeriodicSample : public testing::Test {
 protected:
  PeriodicSample()
      : device_(std::make_shared<CpuDevice>(2, detect_isa(), cpu_toolchain(), "", "")),
        kernel_(for_callers(device_->load(
            build_kernel(backend_named(device_->backend()), {"periodic.pipe", kCharges}, {}, device_->isa(), "")))) {}

  std::shared_ptr<KernelDevice> device_;
  std::shared_ptr<const Kernel> kernel_;
};

SumRequest request_of(const Kernel& kernel, std::vector<ArrayView>& views, std::vector<double>& params,
                      std::map<std::string, std::vector<double>>& arrays, std::int64_t count) {
  params = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (const FieldLayout& field : kernel.source.fields) {
    std::vector<double>& values = arrays[field.name];
    values.resize(std::size_t(count * field.components()));
    views.push_back(field.role == Role::Param
                        ? ArrayView{}
                        : ArrayView{values.data(), Element::Double, count, 8 * field.components(), 8});
  }
  SumRequest request;
  request.views = views;
  request.params = params;
  request.ni = request.nj = request.i_count = count;
  return request;
}

// All pairs of the near images, in double precision, and the operator.
TEST_F(PeriodicSample, FindsAWrongOperator) {
  std::mt19937_64 random(9);
  constexpr double kTolerance = 1e-5;
  std::map<std::string, std::vector<double>> arrays;
  for (const Vector3& one : random_places(kLarge, kCube, random)) {
    arrays["xi"].insert(arrays["xi"].end(), one.begin(), one.end());
    arrays["qj"].push_back(1);
  }
  arrays["xj"] = arrays["xi"];
  std::vector<ArrayView> views;
  std::vector<double> params;
  const SumRequest request = request_of(*kernel_, views, params, arrays, kLarge);
  const std::unique_ptr<Summation> summation = kernel_->start();
  FarRun run(*kernel_, *summation, Precision::Double, kTolerance);
  ASSERT_EQ(run.prepare(request, 128), "");
  ASSERT_EQ(run.draw_sample(request, FarRun::kSampledWithImages), "");
  run.compute_all_pairs(request, FarRun::Of::Sampled);
  const double of_right = run.error_of_sample();
  EXPECT_LT(of_right, 0.3 * kTolerance);
  EXPECT_GT(of_right, 0);  // two operators differ
  for (double& one : const_cast<FarOperator*>(run.far_images()->last())->matrix) one *= 1 + 1e-3;
  ASSERT_EQ(run.prepare(request, 128), "");
  run.compute_all_pairs(request, FarRun::Of::Sampled);
  EXPECT_GT(run.error_of_sample(), kTolerance);
}

// The sums of |terms| of outer images are estimated from drawn j. With a few particles less all of them are summed.
TEST_F(PeriodicSample, EstimatesTheSumsOfTerms) {
  std::mt19937_64 random(10);
  std::vector<Vector3> x = random_places(16'000, kCube, random);
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < 34; ++i) chosen.push_back(400 * i);
  for (const bool are_rare : {false, true}) {
    double errors[2] = {};
    for (const bool are_less : {false, true}) {
      PeriodicTrial trial(kCharges, Precision::Single, device_);
      trial.set_cell(kCube);
      const std::vector<Vector3> all(x.begin(), x.begin() + (are_less ? 15'700 : 16'000));
      for (std::size_t j = 0; j < all.size(); ++j) trial.arrays["qj"].push_back(are_rare && j % 50 != 0 ? 0 : 1);
      set_tolerance(trial.sum, 5e-5, {.order = 3, .leaf = 64, .separation = 0.5});
      trial.run(all, {.i_count = std::int64_t(chosen.size()), .i_list = chosen.data()});
      EXPECT_EQ(trial.sum.statistics().far.sampled, 34);
      errors[are_less] = trial.sum.statistics().far.error;
    }
    EXPECT_GT(errors[0], 1e-6);
    EXPECT_NEAR(errors[1] / errors[0], 1, 0.35);
  }
}

}  // namespace
}  // namespace nbcc::test
