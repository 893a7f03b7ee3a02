// Periodic sums of random charges on any device, and their errors against Ewald sums.
#pragma once
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "jit/backend.h"
#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/sum/derived/for_callers.h"
#include "runtime/sum/run/sum.h"
#include "runtime/tolerance/tolerance.h"
#include "tests/support/cpu_toolchain.h"
#include "tests/support/ewald.h"

namespace nbcc::test {

// Potential and field of charges: 1/r, with the images of all charges but the charge itself.
inline constexpr const char* kCharges =
    "input_i vec3 xi; input_j vec3 xj; input_j real qj; param vec3 a; param vec3 b; param vec3 c;\n"
    "output(sum) real pot; output(sum) vec3 field;\n"
    "vec3 d = every_image(xj - xi, a, b, c);\nskip_if(self_pair);\n"
    "real rinv = rsqrt(dot(d, d));\npot += qj * rinv;\nfield += qj * rinv * rinv * rinv * d;\n";

// One text on a device, with arrays by the names of its fields; `x` is bound as both xi and xj.
class PeriodicTrial {
 public:
  explicit PeriodicTrial(const std::string& text, Precision precision = Precision::Single, int threads = 2)
      : PeriodicTrial(text, precision, std::make_shared<CpuDevice>(threads, detect_isa(), cpu_toolchain(), "", "")) {}
  PeriodicTrial(const std::string& text, Precision precision, std::shared_ptr<KernelDevice> device)
      : device_(std::move(device)),
        kernel_(for_callers(device_->load(build_kernel(backend_named(device_->backend()), {"periodic.pipe", text},
                                                       {.precision = precision}, device_->isa(), "")))),
        sum(kernel_) {}

  void set_cell(const std::array<Vector3, 3>& cell) {
    const char* const names[] = {"a", "b", "c"};
    for (std::size_t k = 0; k < 3; ++k) sum.set_param(names[k], cell[k]);
  }
  void run(const std::vector<Vector3>& x, const RunChoice& choice = {}) {
    const auto count = std::int64_t(x.size());
    for (const FieldLayout& field : sum.fields()) {
      if (field.role == Role::Param) continue;
      std::vector<double>& values = arrays[field.name];
      if (field.name == "xi" || field.name == "xj") {
        values.clear();
        for (const Vector3& one : x) values.insert(values.end(), one.begin(), one.begin() + field.components());
      }
      values.resize(std::size_t(count) * std::size_t(field.components()));
      sum.bind(field.name, {values.data(), Element::Double, count, 8 * field.components(), 8});
    }
    sum.run(choice);
    sum.wait();
  }

 private:
  std::shared_ptr<KernelDevice> device_;
  std::shared_ptr<const Kernel> kernel_;

 public:
  SumState sum;
  std::map<std::string, std::vector<double>> arrays;
};

inline constexpr std::array<Vector3, 3> kCube{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

// The rms over i of |error| / sum of |terms|, of charges in a cell, with the sum of |terms| of the near images. `pot`
// and `field` together.
inline double error_of_charges(const PeriodicTrial& trial, const std::array<Vector3, 3>& cell,
                               const std::vector<Vector3>& x) {
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

inline std::vector<Vector3> random_places(std::size_t count, const std::array<Vector3, 3>& cell,
                                          std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Vector3> x(count);
  for (Vector3& one : x)
    for (const Vector3& vector : cell) {
      const double along = unit(random);
      for (std::size_t axis = 0; axis < 3; ++axis) one[axis] += along * vector[axis];
    }
  return x;
}

}  // namespace nbcc::test
