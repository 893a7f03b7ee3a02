// A kernel as a function of the displacement from i to j, and what is known of its sum over all periodic images. Tested
// by tests/unit/runtime/far/periodic/periodic_kernels_test.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

// sums[component * ni + i] = sum over all nj of K_component(position of j - position of i);
// positions[axis * count + particle], for as many axes as the cell has. Calls have up to 30,000 i and some 3000 j, or
// up to 100,000 i and one j at 0.
using KernelSums = std::function<void(std::int64_t ni, const double* position_i, std::int64_t nj,
                                      const double* position_j, double* sums)>;

struct PeriodicKernel {
  // By component, which is a pair (sum, weight): the number of its group. Errors are relative to the magnitudes of all
  // components of a group together, such as those of a vector and of all weights.
  std::vector<int> groups;
  KernelSums sums;
  std::vector<std::string> names = {};  // for messages, by component: the output; empty: none
  int components() const { return int(groups.size()); }
};

// What the sum over all images means, as far as the decay of K at large distances leaves it open.
enum class PeriodicConvention {
  Converges,       // the sum converges absolutely
  MeanZero,        // near + far images have the mean 0 over the cell: no mode k = 0 (tinfoil, uniform background)
  GrowingSpheres,  // images are added in growing spheres, with vacuum outside
  NeutralOnly,     // no constant is defined: the sum of the weights must be 0
  UpToConstant,    // open directions: without a constant, which matters unless the sum of the weights is 0
  OppositePairs,   // open directions, odd K: images are added in opposite pairs
};
std::string_view describe(PeriodicConvention convention);

struct PeriodicComponent {
  double decay = 0;     // p: K falls like r^-p at large distances; infinite: faster than any power
  int degree = -1;      // the highest of polynomials whose sum over images does not converge absolutely; -1: none
  double constant = 0;  // added to F; apart from T, because it may be large
  bool is_even = false, is_odd = false;  // K(-d) = K(d), K(-d) = -K(d)
  PeriodicConvention convention = PeriodicConvention::Converges;
};

// "decay 1, degree 2 fitted, mean zero (tinfoil); ...".
std::string describe(const PeriodicComponent& component);
// By component, without those that would be said again: "pot: decay 1, ...".
std::vector<std::string> describe(std::span<const std::string> outputs, std::span<const PeriodicComponent> components);

// "" or why the weights are no weights of a periodic sum: the component needs a sum of 0, and it is not
// (|sum| > 1e-12 * magnitude, the sum of |weight|).
std::string require_neutral(const PeriodicComponent& component, std::string_view weight, double sum, double magnitude);

}  // namespace nbcc
