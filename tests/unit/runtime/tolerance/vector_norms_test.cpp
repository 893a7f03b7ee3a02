#include "runtime/tolerance/vector_norms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_device.h"
#include "tests/support/cpu_toolchain.h"

namespace nbcc {
namespace {

using Values = std::vector<double>;

// Vectors of 40 equal elements, of which 38 are in the loop; x from element 2 on, y from element 3 on.
class Norms {
 public:
  Norms(const Values& x, const Values& y) : ni_(std::int64_t(x.size())), nj_(std::int64_t(y.size())) {
    for (const double value : x) x_.insert(x_.end(), 40, value);
    for (const double value : y) y_.insert(y_.end(), 45, value);
  }
  VectorNorms of(std::int64_t i_begin, std::int64_t i_count, const std::int64_t* list = nullptr) {
    SumRequest request;
    std::vector<ArrayView> views;
    for (const FieldLayout& field : kernel_->source.fields) {
      if (field.name == "x") views.push_back({x_.data(), Element::Double, ni_, 320, 8});
      if (field.name == "y") views.push_back({y_.data(), Element::Double, nj_, 360, 8});
      if (field.name == "s") views.emplace_back();
    }
    request.views = views;
    request.ni = ni_, request.nj = nj_, request.i_begin = i_begin, request.i_count = i_count, request.i_list = list;
    const std::vector<Centre> centres{{"nbcc_centre0", "y", "x", 3, 38, 2}};
    return vector_norms(centres, kernel_->source, request, *summation_, 2);
  }

 private:
  std::shared_ptr<const Kernel> kernel_ = std::make_shared<CpuDevice>(2, detect_isa(), test::cpu_toolchain(), "", "")
                                              ->load(build_cpu_kernel(Source{"norms.pipe",
                                                                             "input_i real x[40];\ninput_j real "
                                                                             "y[45];\noutput(sum) real s;\n"
                                                                             "real r2 = 0;\nfor (int k = 2; k < 40; "
                                                                             "++k) r2 += (x[k] - y[k + 1]) * (x[k] - "
                                                                             "y[k + 1]);\ns += exp(-r2);\n"},
                                                                      {}, detect_isa(), ""));
  std::unique_ptr<Summation> summation_ = kernel_->start();
  Values x_, y_;
  std::int64_t ni_, nj_;
};

// The mean of the j is 2.
TEST(VectorNorms, AreOfTheChosenI) {
  Norms norms({2, 5, 1, -2, 3}, {1, 3});
  const VectorNorms all = norms.of(0, 5);
  EXPECT_EQ(all.largest, Values{38.0 * (16 + 1)});
  EXPECT_DOUBLE_EQ(all.mean.at(0), 38.0 * ((0 + 9 + 1 + 16 + 1) / 5.0 + 1));
  EXPECT_EQ(all.farthest, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(norms.of(0, 3).largest, Values{38.0 * (9 + 1)});
  EXPECT_EQ(norms.of(1, 2).farthest, (std::vector<std::int64_t>{1, 2}));
  const std::int64_t list[] = {4, 3, 0};
  const VectorNorms some = norms.of(0, 3, list);
  EXPECT_EQ(some.largest, Values{38.0 * (16 + 1)});
  EXPECT_EQ(some.farthest, (std::vector<std::int64_t>{3, 4}));
}

TEST(VectorNorms, AreOfManyParticles) {
  Values x(1000, 0.5);
  x[999] = 3, x[300] = -4;
  const VectorNorms found = Norms(x, Values(700, 0)).of(0, 1000);
  EXPECT_EQ(found.largest, Values{38.0 * 16});
  EXPECT_EQ(found.farthest, (std::vector<std::int64_t>{300, 999}));
}

TEST(VectorNorms, AreNotFiniteIfAVectorIsNot) {
  for (const double bad : {double(NAN), double(INFINITY), 1e19}) {
    EXPECT_FALSE(Norms({1, bad, 2}, {0, 1}).of(0, 3).are_finite(3e38)) << bad;
    EXPECT_FALSE(Norms({1, 2, 2}, {0, bad}).of(0, 3).are_finite(3e38)) << bad;
  }
  EXPECT_TRUE(Norms({1, 1e17, 2}, {0, 1}).of(0, 3).are_finite(3e38));
}

TEST(VectorNorms, ExceedThoseOfNearerVectors) {
  const VectorNorms measured = Norms({1, 2, 3}, {0, 0}).of(0, 3);
  EXPECT_FALSE(measured.exceed(measured));
  EXPECT_FALSE(Norms({1, 2, 3.1}, {0, 0}).of(0, 3).exceed(measured));
  EXPECT_FALSE(Norms({1, 1, 1}, {0, 0}).of(0, 3).exceed(measured));
  EXPECT_TRUE(Norms({1, 2, 4}, {0, 0}).of(0, 3).exceed(measured));
  EXPECT_TRUE(Norms({3, 3, 3}, {0, 0}).of(0, 3).exceed(measured));  // the mean
  EXPECT_TRUE(Norms({1, NAN, 1}, {0, 0}).of(0, 3).exceed(measured));
}

}  // namespace
}  // namespace nbcc
