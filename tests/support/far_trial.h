// A pipeline with a far field on random particles, and its exact sums in double precision. Its entry point is FarTrial.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compiler/far_kernels.h"
#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/sum/run/sum.h"
#include "runtime/tolerance/tolerance.h"
#include "tests/support/cpu_toolchain.h"
#include "tests/support/folders.h"

namespace nbcc::test {

// positions[particle * axes + axis]. "apart": i and j are uniform in two cubes, 9.3 sides from each other.
inline std::vector<double> far_set(const std::string& shape, std::int64_t n, int axes, std::mt19937_64& random,
                                   bool is_i = true) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> normal;
  std::vector<double> positions;
  for (std::int64_t k = 0; k < n; ++k) {
    const double plummer = 1 / std::sqrt(std::pow(0.999 * unit(random) + 1e-9, -2.0 / 3) - 1);
    const double along = unit(random);
    const std::array<double, 3> direction{normal(random), normal(random), normal(random)};
    const double length = std::hypot(direction[0], direction[1], direction[2]);
    const std::array<double, 3> spot{double(random() % 3), double(random() % 4), double(random() % 5)};
    for (std::size_t axis = 0; axis < std::size_t(axes); ++axis) {
      double x = unit(random);
      if (shape == "plummer" || shape == "far body") x = direction[axis] / length * plummer;
      if (shape == "far body" && k == n / 3) x = 1e5;
      if (shape == "clumps") x = 0.2 * direction[axis] + (k % 2 == 0 ? 0 : 300);
      if (shape == "line") x = along * (1 + double(axis));
      if (shape == "plane" && axis + 1 == std::size_t(axes)) x = 0.25;
      if (shape == "coincident") x = spot[axis];
      if (shape == "thin") x *= axis == 0 ? 1000 : 1;
      if (shape == "apart" && is_i && axis == 0) x += 9.3;
      if (shape == "lattice") x = double(k / std::int64_t(std::pow(16, axis)) % 16) / 16;
      positions.push_back(x);
    }
  }
  return positions;
}

// How the values of j other than positions are drawn by FarTrial::reweigh().
enum class FarWeights { Equal, OfBothSigns, Rare, OneHeavy, Rescaled, OfAllSizes, OfOneHalf, Waves, Drawn };
constexpr unsigned kFarWeights = 9;

// One pipeline in one precision. Arrays are found by the names of fields; outputs are arrays too.
class FarTrial {
 public:
  FarTrial(const Source& source, Precision precision, int threads = 1)
      : FarTrial(source, precision, std::make_shared<CpuDevice>(threads, detect_isa(), cpu_toolchain(), "", "")) {}
  // On any device; the exact sums are those of the CPU, by the kernel "sample" of this row of derived kernels.
  FarTrial(const Source& source, Precision precision, std::shared_ptr<KernelDevice> device,
           const std::string& row = "far")
      : device_(std::move(device)),
        kernel_(device_->load(
            build_kernel(backend_named(device_->backend()), source, {.precision = precision}, device_->isa(), ""))),
        sum(kernel_),
        exact_(cpu_->load(build_cpu_kernel(source, {}, detect_isa(), ""))
                   ->load_derived(row, "sample", Precision::Double)) {
    for (const FieldLayout& field : sum.fields()) {
      if (!position_of(field)) continue;
      if (field.role == Role::InputI) axes_ = std::min(3, int(field.components()));
      if (field.role == Role::InputJ) position_of_j_ = field.name;
    }
  }
  static Source library(const std::string& name) {
    return read_source(source_folder() + "/pipelines/" + name + ".pipe");
  }

  int axes() const { return axes_; }

  // Particles whose weights are random; i and j are one set, or two of these numbers.
  void fill(const std::string& shape, std::int64_t ni, std::int64_t nj, bool one_set, unsigned seed) {
    std::mt19937_64 random(seed);
    ni_ = ni, nj_ = nj;
    const std::vector<double> of_i = far_set(shape, ni, axes_, random);
    const std::vector<double> of_j = one_set ? of_i : far_set(shape, nj, axes_, random, false);
    std::normal_distribution<double> normal;
    std::map<std::string, std::vector<double>> of_both;  // by the name without the side
    for (const FieldLayout& field : sum.fields()) {
      if (field.role != Role::InputI && field.role != Role::InputJ) continue;
      const bool is_i = field.role == Role::InputI;
      const std::int64_t count = is_i ? ni : nj;
      const int width = field.components();
      std::vector<double> values(std::size_t(count * width));
      for (double& value : values) value = normal(random);
      if (field.name[0] == 'm')
        for (double& value : values) value = (1 + 0.2 * std::sin(value)) / double(nj);
      if (position_of(field)) {
        const std::vector<double>& positions = is_i ? of_i : of_j;
        for (std::int64_t k = 0; k < count; ++k) {
          for (int axis = 0; axis < axes_; ++axis)
            values[std::size_t(k * width + axis)] = positions[std::size_t(k * axes_ + axis)];
          // In the dialect of CUNBODY-1 a softening or a mass follows.
          for (int c = axes_; c < width; ++c) values[std::size_t(k * width + c)] = is_i ? 1e-4 : 1 / double(nj);
        }
      } else if (one_set) {
        std::vector<double>& same = of_both[field.name.substr(0, field.name.size() - 1)];
        if (same.empty()) same = values;
        values = same;
      }
      arrays[field.name] = values;
    }
    bind();
  }

  // Gives the j other values at the same positions.
  void reweigh(FarWeights weights, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    const std::vector<double>& positions = arrays.at(position_of_j_);
    const std::size_t coordinates = positions.size() / std::size_t(nj_), chosen = random() % std::size_t(nj_);
    const double factor = std::exp(10 * normal(random));
    for (const FieldLayout& field : sum.fields()) {
      if (field.role != Role::InputJ || position_of(field)) continue;
      const auto width = std::size_t(field.components());
      std::vector<double>& values = arrays[field.name];
      for (std::size_t k = 0; k < values.size(); ++k) {
        const std::size_t j = k / width;
        const double x = positions[j * coordinates];
        switch (weights) {
          case FarWeights::Equal:
            values[k] = 1;
            break;
          case FarWeights::OfBothSigns:
            values[k] = normal(random);
            break;
          case FarWeights::Rare:
            values[k] = random() % 1000 == 0 ? 1 : 0;
            break;
          case FarWeights::OneHeavy:
            values[k] = j == chosen ? 1 : 1e-12;
            break;
          case FarWeights::Rescaled:
            values[k] *= factor;
            break;
          case FarWeights::OfAllSizes:
            values[k] = std::exp(4 * normal(random));
            break;
          case FarWeights::OfOneHalf:
            values[k] = x > positions[chosen * coordinates] ? 1 : 1e-6;
            break;
          case FarWeights::Waves:
            values[k] = std::sin(8 * x);
            break;
          case FarWeights::Drawn:
            values[k] *= 1 + 0.2 * normal(random);
            break;
        }
      }
    }
  }

  // Binds the arrays again, which may have been changed.
  void bind() {
    for (const FieldLayout& field : sum.fields()) {
      if (field.role == Role::Param) continue;
      const int width = field.components();
      std::vector<double>& values = arrays[field.name];
      const std::int64_t count = field.role == Role::InputJ ? nj_ : ni_;
      values.resize(std::size_t(count * width));
      const auto view = [&](std::vector<double>& array) {
        return ArrayView{array.data(), Element::Double, count, 8 * width, 8};
      };
      sum.bind(field.name, view(values));
      std::vector<double>& found = field.role == Role::Output ? exact[field.name] : values;
      found.resize(values.size());
      exact_.bind(field.name, view(found));
      if (field.role != Role::Output) continue;
      std::vector<double>& size = sizes[field.name];
      size.resize(std::size_t(count));
      exact_.bind("nbcc_size_" + field.name, {size.data(), Element::Double, count, 8, 8});
    }
  }

  void set_param(const std::string& name, std::vector<double> values) {
    sum.set_param(name, values);
    exact_.set_param(name, values);
  }

  // Excludes pairs from both sums; excluded[i]: the j of one i. Empty: none.
  void exclude(const std::vector<std::vector<std::int64_t>>& excluded) {
    std::vector<std::int64_t> first{0}, j;
    for (const std::vector<std::int64_t>& of_i : excluded) {
      j.insert(j.end(), of_i.begin(), of_i.end());
      first.push_back(std::int64_t(j.size()));
    }
    for (SumState* const of : {&sum, &exact_})
      of->set_exclusions(std::int64_t(excluded.size()), excluded.empty() ? nullptr : first.data(),
                         std::int64_t(j.size()), j.data());
  }

  void set_batches(std::int64_t count, const std::vector<std::int64_t>& i, const std::vector<std::int64_t>& j) {
    for (SumState* const of : {&sum, &exact_})
      of->set_batches(count, std::int64_t(i.size()), i.data(), std::int64_t(j.size()), j.data());
  }

  // The sum, and the exact sums of all i.
  void run(const RunChoice& choice = {}) {
    sum.run(choice);
    sum.wait();
    exact_.run();
    exact_.wait();
  }

  bool was_far() const { return sum.statistics().method == "far field"; }

  // The largest of all outputs: the rms over these i (all, if empty) of |error| / sum of |terms|.
  double error(const std::vector<std::int64_t>& which = {}) const {
    double largest = 0;
    for (const FieldLayout& field : sum.fields()) {
      if (field.role != Role::Output) continue;
      const auto width = std::size_t(field.components());
      const std::vector<double>&found = arrays.at(field.name), &all = exact.at(field.name);
      double squares = 0;
      std::size_t count = 0;
      const auto add = [&](std::size_t i) {
        ++count;
        double squared = 0;
        for (std::size_t c = width * i; c < width * (i + 1); ++c) squared += (found[c] - all[c]) * (found[c] - all[c]);
        if (squared != 0) squares += squared / (sizes.at(field.name)[i] * sizes.at(field.name)[i]);
      };
      if (which.empty())
        for (std::int64_t i = 0; i < ni_; ++i) add(std::size_t(i));
      else
        for (const std::int64_t i : which) add(std::size_t(i));
      const double rms = std::sqrt(squares / double(count));
      largest = std::isnan(rms) ? INFINITY : std::max(largest, rms);
    }
    return largest;
  }

  std::map<std::string, std::vector<double>> arrays;        // inputs, and outputs of `sum`
  std::map<std::string, std::vector<double>> exact, sizes;  // by output: exact sums, and sums of |terms|

 private:
  static bool position_of(const FieldLayout& field) { return field.name[0] == 'x' || field.name.starts_with("INPUT_"); }

  std::unique_ptr<CpuDevice> cpu_ = std::make_unique<CpuDevice>(1, detect_isa(), cpu_toolchain(), "", "");
  std::shared_ptr<KernelDevice> device_;
  std::shared_ptr<const Kernel> kernel_;
  std::int64_t ni_ = 0, nj_ = 0;
  int axes_ = 3;
  std::string position_of_j_;

 public:
  SumState sum;

 private:
  SumState exact_;
};

}  // namespace nbcc::test
