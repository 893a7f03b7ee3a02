// every_image() in boxes on both sides of the size from which runs on the CPU need no copies: sums over nearest images
// and over copies, compared with all images of all pairs in double precision.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/library_device.h"

namespace nbcc::test {
namespace {

constexpr double kReach = 1.5;
using LargeBox = std::array<double, 3>;

// The texts differ in what each pair once, or the test of self_pair, allows.
struct LargeBoxText {
  bool of_vectors, skips_self, has_argmin;
  Precision precision;
};

std::string text_of(const LargeBoxText& form) {
  return fmt::format(
      "input_i vec3 xi; input_j vec3 xj; input_i real qi; input_j real qj;\n"
      "param vec3 a; param vec3 b; param vec3 c; param real rc;\n"
      "output(sum) vec3 f; output(sum) real e; output(count) int n;{}\n"
      "vec3 d = every_image(xj - xi, {});\nreal r2 = dot(d, d);\nskip_if({}r2 >= rc * rc);\n"
      "real w = qi * qj * (rc * rc - r2);\nf += w * d; e += w; n += r2 >= 0.0;{}\n",
      form.has_argmin ? " output(argmin) index least;" : "", form.of_vectors ? "a, b, c" : "vec3(a.x, b.y, c.z)",
      form.skips_self ? "self_pair || " : "", form.has_argmin ? " least = argmin(least, r2);" : "");
}

// One sum in boxes that change from run to run. Positions and boxes are multiples of 1/64, so that single precision
// compares distances with the cutoff exactly.
class LargeBoxSum {
 public:
  static constexpr std::int64_t kCount = 150;

  // `of_library`: the kernels are those of a compiled library.
  LargeBoxSum(CpuDevice& device, const LargeBoxText& form, bool one_set, std::uint64_t seed, bool of_library = false)
      : form_(form), one_set_(one_set), random_(seed), sum_(for_callers(device.load(kernel_of(form, of_library)))) {
    for (std::vector<double>* const q : {&qi_, &qj_}) {
      q->resize(kCount);
      for (double& one : *q) one = on_grid(-2, 2);
    }
    if (one_set_) qj_ = qi_;
    place({4, 4, 4});
    bind("xi", xi_, 3), bind("xj", one_set_ ? xi_ : xj_, 3);
    bind("qi", qi_, 1), bind("qj", one_set_ ? qi_ : qj_, 1);
    f_.resize(3 * kCount), e_.resize(kCount), n_.resize(kCount), least_.resize(kCount);
    bind("f", f_, 3), bind("e", e_, 1), bind("n", n_, 1);
    if (form.has_argmin) bind("least", least_, 1);
    sum_.set_symmetric(SymmetricChoice::Always);
    sum_.set_pairs(PairChoice::Cutoff);
    sum_.set_param("rc", {&kReach, 1});
  }

  SumState& sum() { return sum_; }
  double on_grid(double low, double high) {
    return std::round(std::uniform_real_distribution<double>(low, high)(random_) * 64) / 64;
  }

  // Particles in the box, and in some of its images.
  void place(const LargeBox& box) {
    for (std::vector<double>* const x : {&xi_, &xj_}) {
      x->resize(3 * kCount);
      for (std::size_t k = 0; k < x->size(); ++k) {
        const double length = std::isfinite(box[k % 3]) && box[k % 3] != 0 ? std::fabs(box[k % 3]) : 4;
        (*x)[k] = on_grid(0, length) + (random_() % 4 == 0 ? length * std::round(on_grid(-3, 3)) : 0);
      }
    }
    if (one_set_) xj_ = xi_;
  }
  void place_around_the_origin() {
    for (std::vector<double>* const x : {&xi_, &xj_})
      for (double& one : *x) one = on_grid(-3, 3);
    if (one_set_) xj_ = xi_;
  }
  void exclude(std::int64_t every) {
    first_.assign(1, 0), excluded_.clear();
    for (std::int64_t i = 0; i < kCount; ++i) {
      for (std::int64_t j = i % every; j < kCount; j += every) excluded_.push_back(j);
      first_.push_back(std::int64_t(excluded_.size()));
    }
    sum_.set_exclusions(kCount, first_.data(), first_.back(), excluded_.data());
  }

  void expect_warning(const std::string& part) {
    const std::vector<std::string>& warnings = sum_.warnings();
    EXPECT_TRUE(std::ranges::any_of(warnings, [&](const std::string& one) {
      return one.find(part) != std::string::npos;
    })) << testing::PrintToString(warnings);
  }

  // Runs, and compares with all images of all pairs. Returns whether the run was without copies.
  bool run(const LargeBox& box, double skew = 0) {
    const std::array<LargeBox, 3> vectors{{{box[0], skew, 0}, {0, box[1], 0}, {0, 0, box[2]}}};
    for (std::size_t k = 0; k < 3; ++k) sum_.set_param(std::string(1, "abc"[k]), vectors[k]);
    for (std::vector<double>* const result : {&f_, &e_, &n_, &least_}) std::ranges::fill(*result, -77.0);
    sum_.run();
    compare(box, form_.of_vectors ? skew : 0);
    return sum_.statistics().reason.find("only the nearest image of a pair") != std::string::npos;
  }

 private:
  static KernelSource kernel_of(const LargeBoxText& form, bool of_library) {
    KernelSource kernel =
        build_cpu_kernel(parse({"large_box.pipe", text_of(form)}), {form.precision}, runnable_isas().back(), "");
    return of_library ? as_in_library(std::move(kernel), form.precision) : kernel;
  }

  void bind(const char* field, std::vector<double>& values, int width) {
    sum_.bind(field, {values.data(), Element::Double, kCount, 8 * width, 8});
  }

  // Multiples of a length, at least those that bring a difference within the reach, if the length is more than 2/3 of
  // it. A length of 0 or infinity is none.
  static std::vector<double> near_images(double difference, double length) {
    if (!std::isfinite(length) || length == 0) return {0};
    const double middle = -std::round(difference / length);
    return {middle - 1, middle, middle + 1};
  }
  static double plus(double difference, double multiple, double length) {
    return multiple == 0 ? difference : difference + multiple * length;
  }

  void compare(const LargeBox& box, double skew) {
    const std::vector<double>& xj = one_set_ ? xi_ : xj_;
    const double tolerance = form_.precision == Precision::Double ? 1e-12 : 3e-5;
    for (std::int64_t i = 0; i < kCount; ++i) {
      std::array<double, 3> f{}, magnitude{};
      double e = 0, of_e = 0, n = 0, nearest = HUGE_VAL, least = -1;
      for (std::int64_t j = 0; j < kCount; ++j) {
        const bool is_excluded =
            !first_.empty() && std::binary_search(excluded_.begin() + first_[std::size_t(i)],
                                                  excluded_.begin() + first_[std::size_t(i) + 1], j);
        if (is_excluded) continue;
        std::array<double, 3> apart{};
        for (std::size_t k = 0; k < 3; ++k) apart[k] = xj[std::size_t(3 * j) + k] - xi_[std::size_t(3 * i) + k];
        for (const double x : near_images(apart[0], box[0]))
          for (const double y : near_images(apart[1] + x * skew, box[1]))
            for (const double z : near_images(apart[2], box[2])) {
              if (form_.skips_self && i == j && x == 0 && y == 0 && z == 0) continue;
              const std::array<double, 3> d{plus(apart[0], x, box[0]), plus(apart[1] + x * skew, y, box[1]),
                                            plus(apart[2], z, box[2])};
              const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
              if (!(r2 < kReach * kReach)) continue;
              const double w = qi_[std::size_t(i)] * (one_set_ ? qi_ : qj_)[std::size_t(j)] * (kReach * kReach - r2);
              for (std::size_t k = 0; k < 3; ++k) f[k] += w * d[k], magnitude[k] += std::fabs(w * d[k]);
              e += w, of_e += std::fabs(w), n += 1;
              if (r2 < nearest) nearest = r2, least = double(j);
            }
      }
      ASSERT_EQ(n_[std::size_t(i)], n) << "i " << i;
      ASSERT_NEAR(e_[std::size_t(i)], e, tolerance * (of_e + 1e-3)) << "i " << i;
      for (std::size_t k = 0; k < 3; ++k)
        ASSERT_NEAR(f_[std::size_t(3 * i) + k], f[k], tolerance * (magnitude[k] + 1e-3)) << "i " << i;
      if (form_.has_argmin) ASSERT_EQ(least_[std::size_t(i)], least) << "i " << i;
    }
  }

  LargeBoxText form_;
  bool one_set_;
  std::mt19937_64 random_;
  std::vector<double> xi_, xj_, qi_, qj_, f_, e_, n_, least_;
  std::vector<std::int64_t> first_, excluded_;
  SumState sum_;
};

// Boxes from 1.7 to 3.5 times the reach, some with open axes or negative lengths, one sum for all of them.
TEST(NearestImages, AreThoseOfEveryImageInLargeBoxes) {
  CpuDevice device(2, runnable_isas().back(), cpu_toolchain(), "", "");
  std::uint64_t seed = 1;
  int without_copies = 0, with_copies = 0;
  for (const Precision precision : {Precision::Single, Precision::Mixed, Precision::Double})
    for (int kind = 0; kind < 8; ++kind) {
      const LargeBoxText form{kind % 2 == 0, (kind & 2) != 0, (kind & 4) != 0, precision};
      for (const bool one_set : {true, false}) {
        const bool of_library = ++seed % 3 == 0;
        LargeBoxSum run(device, form, one_set, seed, of_library);
        if (kind == 3) run.exclude(3);
        for (int trial = 0; trial < 6; ++trial) {
          SCOPED_TRACE(fmt::format("{} kind {} one_set {} of_library {} trial {}", name(precision), kind, one_set,
                                   of_library, trial));
          LargeBox box{};
          const bool is_large = trial % 2 == 0;
          for (double& length : box) length = is_large ? run.on_grid(3.03125, 5.25) : run.on_grid(2.5, 3);
          if (trial == 2) box[std::size_t(kind) % 3] = form.of_vectors ? 0 : HUGE_VAL;
          if (trial == 4) box[std::size_t(kind) % 3] *= -1;
          if (trial == 3) box[0] = 5, box[1] = 4;
          run.place(box);
          const bool found = run.run(box);
          if (HasFatalFailure()) return;
          // Of two sets, the pairs of equal indices may be nearest at another image.
          EXPECT_EQ(found, is_large && (one_set || !form.skips_self));
          ++(found ? without_copies : with_copies);
          const bool once = run.sum().statistics().reason.find("each pair once") != std::string::npos;
          EXPECT_EQ(once, found && one_set && !form.has_argmin && kind != 3);
          if (found && one_set && kind == 3) run.expect_warning("the search has excluded pairs, so that each pair");
        }
      }
    }
  EXPECT_GT(without_copies, 50);
  EXPECT_GT(with_copies, 50);
}

// The lists of a kept run hold while a box changes its size, its copies come and go, and a cell becomes skewed.
TEST(NearestImages, ChooseInEachRun) {
  CpuDevice device(1, runnable_isas().back(), cpu_toolchain(), "", "");
  LargeBoxSum run(device, {true, true, false, Precision::Single}, true, 99);
  run.sum().set_skin(0.25);
  run.place({4, 4, 4});
  for (const double length : {4.0, 4.0, 4.015625, 3.0, 3.0, 2.5, 4.0, 4.0}) {
    SCOPED_TRACE(length);
    EXPECT_EQ(run.run({length, 4, 4}), length > 3);
    if (HasFatalFailure()) return;
  }
  EXPECT_FALSE(run.run({4, 4, 4}, 0.5)) << "a skewed cell";
  EXPECT_TRUE(run.run({4, 4, 4}));
  EXPECT_LT(run.sum().statistics().searches, run.sum().statistics().runs);
  run.sum().set_pairs(PairChoice::All);
  EXPECT_FALSE(run.run({4, 4, 4}));
}

// As each pair once (symmetric_test.cpp), a kernel without copies is made for fewer particles only at the caller's
// wish.
TEST(NearestImages, AreAutomaticFrom4096ParticlesOn) {
  CpuDevice device(2, runnable_isas().back(), cpu_toolchain(), "", "");
  SumState sum(for_callers(device.load(build_cpu_kernel(
      parse({"line.pipe",
             "input_i real xi; input_j real xj; param real period; output(count) int n;\n"
             "real d = every_image(xj - xi, period);\nskip_if(self_pair || d * d > 9.0);\nn += true;\n"}),
      {}, runnable_isas().back(), ""))));
  for (const std::int64_t count : {4095, 4096}) {
    std::vector<double> x, n(std::size_t(count), -7);
    for (std::int64_t p = 0; p < count; ++p) x.push_back(double(p));
    const auto period = double(count);
    sum.set_param("period", {&period, 1});
    for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, count, 8, 8});
    sum.bind("n", {n.data(), Element::Double, count, 8, 8});
    const auto is_without_copies = [&](SymmetricChoice choice) {
      std::ranges::fill(n, -7);
      sum.set_symmetric(choice);
      sum.run();
      EXPECT_EQ(n, std::vector<double>(std::size_t(count), 6));
      const std::string reason = sum.statistics().reason;
      const bool found = reason.find("only the nearest image of a pair") != std::string::npos;
      EXPECT_EQ(reason.find("each pair once") != std::string::npos, found) << reason;
      EXPECT_TRUE(!found || reason.find("symmetric:") == std::string::npos) << reason;
      return found;
    };
    EXPECT_EQ(is_without_copies(SymmetricChoice::Auto), count == 4096);
    EXPECT_TRUE(is_without_copies(SymmetricChoice::Always));
  }
}

// Positions keep their digits in a cell that is as long as an open one: the cell is around the origin.
TEST(NearestImages, AxesMayBeVeryLong) {
  CpuDevice device(1, runnable_isas().back(), cpu_toolchain(), "", "");
  for (const Precision precision : {Precision::Single, Precision::Mixed, Precision::Double})
    for (const bool one_set : {true, false})
      for (const PairChoice pairs : {PairChoice::Cutoff, PairChoice::All}) {
        LargeBoxSum run(device, {true, one_set, false, precision}, one_set, 7);
        run.place_around_the_origin();
        run.sum().set_pairs(pairs);
        for (const LargeBox& box : {LargeBox{1e30, 1e30, 1e30}, {4, 1e30, 4}, {1e8, 4, 1e12}, {1e6, 1e6, 1e6}}) {
          SCOPED_TRACE(testing::Message() << int(precision) << " " << one_set << " " << int(pairs) << " " << box[0]);
          EXPECT_EQ(run.run(box), pairs == PairChoice::Cutoff);
          if (HasFatalFailure()) return;
        }
      }
}

// A text that tells the images apart has copies; a position that is not finite has no pairs.
TEST(NearestImages, LeavePairsWithoutAPositionOut) {
  CpuDevice device(1, runnable_isas().back(), cpu_toolchain(), "", "");
  const auto results = [&](const std::string& more, double x1, bool* without_copies) {
    const Pipeline pipeline =
        parse({"lost.pipe",
               "input_i real xi; input_j real xj; output(count) int n; output(sum) real s;\n"
               "real d = every_image(xj - xi, 8.0);\nskip_if(self_pair || d * d > 9.0);\nn += true; s += d" +
                   more + ";\n"});
    std::vector<double> x{0.25, x1, 7.5, 18.0}, n(4), s(4);
    SumState sum(for_callers(device.load(build_cpu_kernel(pipeline, {}, runnable_isas().back(), ""))));
    for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, 4, 8, 8});
    sum.bind("n", {n.data(), Element::Double, 4, 8, 8});
    sum.bind("s", {s.data(), Element::Double, 4, 8, 8});
    sum.set_symmetric(SymmetricChoice::Always);
    sum.run();
    *without_copies = sum.statistics().reason.find("only the nearest image of a pair") != std::string::npos;
    n.insert(n.end(), s.begin(), s.end());
    return n;
  };
  bool without_copies = false;
  // 18 is 2 in the first cell: 1.75 from 0.25, 2.5 from 7.5.
  EXPECT_EQ(results("", 100, &without_copies), (std::vector<double>{2, 1, 2, 3, 1, -2, 3.25, -2.25}));
  EXPECT_TRUE(without_copies);
  for (const double lost : {double(NAN), double(HUGE_VAL)}) {
    const std::vector<double> found = results("", lost, &without_copies);
    EXPECT_TRUE(without_copies);
    for (const auto& [at, value] : {std::pair{0, 2.0}, {2, 2.0}, {3, 2.0}, {4, 1.0}, {6, 3.25}, {7, -4.25}})
      EXPECT_EQ(found[std::size_t(at)], value) << at;
    EXPECT_TRUE(std::isnan(found[5]));
  }
  EXPECT_EQ(results(" + real(image_index(0))", 100, &without_copies)[0], 2);
  EXPECT_FALSE(without_copies);
}

}  // namespace
}  // namespace nbcc::test
