// Periodic sums by tolerance: every_image() without a cutoff, against Ewald sums and published constants.
// runtime/far/periodic/ has its tables alone tested against others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>

#include "jit/backend.h"
#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/error.h"
#include "runtime/far/tolerance.h"
#include "runtime/sum/derived/for_callers.h"
#include "tests/support/cpu_toolchain.h"
#include "tests/support/ewald.h"

namespace nbcc::test {
namespace {

// Potential and field of charges: 1/r, with the images of all charges but the charge itself.
constexpr const char* kCharges =
    "input_i vec3 xi; input_j vec3 xj; input_j real qj; param vec3 a; param vec3 b; param vec3 c;\n"
    "output(sum) real pot; output(sum) vec3 field;\n"
    "vec3 d = every_image(xj - xi, a, b, c);\nskip_if(self_pair);\n"
    "real rinv = rsqrt(dot(d, d));\npot += qj * rinv;\nfield += qj * rinv * rinv * rinv * d;\n";

// One text on the CPU, with arrays by the names of its fields; `x` is bound as both xi and xj.
class PeriodicTrial {
 public:
  explicit PeriodicTrial(const std::string& text, Precision precision = Precision::Single, int threads = 2)
      : device_(threads, detect_isa(), cpu_toolchain(), "", ""),
        kernel_(for_callers(device_.load(
            build_kernel(backend_named("cpu"), {"periodic.pipe", text}, {.precision = precision}, detect_isa(), "")))),
        sum(kernel_) {}

  void set_cell(const std::array<Vector3, 3>& cell) {
    const char* const names[] = {"a", "b", "c"};
    for (std::size_t k = 0; k < 3; ++k) sum.set_param(names[k], cell[k]);
  }
  void run(const std::vector<Vector3>& x) {
    const auto count = std::int64_t(x.size());
    for (const FieldLayout& field : sum.fields()) {
      if (field.role == Role::Param) continue;
      std::vector<double>& values = arrays[field.name];
      if (field.name == "xi" || field.name == "xj") {
        values.clear();
        for (const Vector3& one : x) values.insert(values.end(), one.begin(), one.end());
      }
      values.resize(std::size_t(count) * std::size_t(field.components()));
      sum.bind(field.name, {values.data(), Element::Double, count, 8 * field.components(), 8});
    }
    sum.run();
    sum.wait();
  }

 private:
  CpuDevice device_;
  std::shared_ptr<const Kernel> kernel_;

 public:
  SumState sum;
  std::map<std::string, std::vector<double>> arrays;
};

constexpr std::array<Vector3, 3> kCube{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

// The rms over i of |error| / sum of |terms|, of charges in a cell, with the sum of |terms| of the near images. `pot`
// and `field` together.
double error_of_charges(const PeriodicTrial& trial, const std::array<Vector3, 3>& cell, const std::vector<Vector3>& x) {
  const std::vector<double>& q = trial.arrays.at("qj");
  const EwaldSum exact = ewald(cell, x, q);
  double of_potential = 0, of_field = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double terms = 0, terms_of_field = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      for (int a = -2; a <= 2; ++a)
        for (int b = -2; b <= 2; ++b)
          for (int c = -2; c <= 2; ++c) {
            Vector3 d;
            for (std::size_t axis = 0; axis < 3; ++axis)
              d[axis] = x[j][axis] - x[i][axis] + a * cell[0][axis] + b * cell[1][axis] + c * cell[2][axis];
            if (dot(d, d) == 0) continue;
            terms += std::fabs(q[j]) / std::sqrt(dot(d, d));
            terms_of_field += std::fabs(q[j]) / dot(d, d);
          }
    const double error = trial.arrays.at("pot")[i] - exact.potential[i];
    of_potential += error * error / (terms * terms);
    Vector3 way;
    for (std::size_t axis = 0; axis < 3; ++axis)
      way[axis] = trial.arrays.at("field")[3 * i + axis] - exact.field[i][axis];
    of_field += dot(way, way) / (terms_of_field * terms_of_field);
  }
  return std::sqrt(std::max(of_potential, of_field) / double(x.size()));
}

std::vector<Vector3> random_places(std::size_t count, const std::array<Vector3, 3>& cell, std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Vector3> x(count);
  for (Vector3& one : x)
    for (const Vector3& vector : cell) {
      const double along = unit(random);
      for (std::size_t axis = 0; axis < 3; ++axis) one[axis] += along * vector[axis];
    }
  return x;
}

// Madelung's constant of NaCl: OEIS A085469.
TEST(PeriodicSum, OfSodiumChlorideIsMadelungs) {
  PeriodicTrial trial(kCharges, Precision::Double);
  trial.set_cell({{{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}});
  set_tolerance(trial.sum, 1e-11);
  std::vector<Vector3> x;
  for (int k = 0; k < 8; ++k) {
    x.push_back({double(k & 1), double(k >> 1 & 1), double(k >> 2 & 1)});
    trial.arrays["qj"].push_back(((k & 1) + (k >> 1 & 1) + (k >> 2 & 1)) % 2 == 0 ? 1 : -1);
  }
  trial.run(x);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(trial.arrays["pot"][i], -1.747564594633182 * trial.arrays["qj"][i], 1e-9);
    for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(trial.arrays["field"][3 * i + axis], 0, 1e-9);
  }
}

TEST(PeriodicSum, OfChargesIsEwalds) {
  std::mt19937_64 random(3);
  PeriodicTrial trial(kCharges);
  trial.set_cell(kCube);
  const std::vector<Vector3> x = random_places(300, kCube, random);
  for (const bool neutral : {true, false})
    for (const double tolerance : {1e-3, 1e-5, 1e-7, 1e-10}) {
      SCOPED_TRACE(fmt::format("{}, tolerance {}", neutral ? "neutral" : "masses", tolerance));
      trial.arrays["qj"].clear();
      for (std::size_t j = 0; j < x.size(); ++j) trial.arrays["qj"].push_back(neutral && j % 2 == 0 ? -1 : 1);
      set_tolerance(trial.sum, tolerance);
      trial.run(x);
      EXPECT_LE(error_of_charges(trial, kCube, x), tolerance);
    }
}

}  // namespace
}  // namespace nbcc::test
