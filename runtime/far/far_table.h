// The errors of interpolation of a pipeline's terms, measured with its own kernel: how far away must a cell be so that
// its grid serves? Tested by tests/numeric/far_field_test.cpp.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "compiler/far_kernels.h"
#include "runtime/far/far_walk.h"
#include "runtime/sum/plan/derived_sum.h"

namespace nbcc {

// For cells of one size and one order, by the ratio of their radius to the distance.
struct FarErrors {
  static constexpr int kRatios = FarLimits::kRatios;  // ratio k / kRatios; ratios 0 and 1 are never measured
  static constexpr int kFirst = FarLimits::kFirst;
  struct One {
    double relative = 0;    // rms error / rms term
    double absolute = 0;    // rms error of the term of one source
    bool vanishes = false;  // the term has fallen off, like exp(-r), or its relative error is larger than nearer by
  };
  std::vector<std::array<One, kRatios>> of_output;  // [output field]
};

class FarTable {
 public:
  // `kernels` must outlive this object; `measured`: of kernels.measured.
  // weights[particle * kernels.weights + k] and factors[particle * kernels.factors + k] of particles drawn at random,
  // from which terms are formed.
  FarTable(const FarKernels& kernels, std::unique_ptr<DerivedSum> measured, std::span<const FieldLayout> fields);
  // Forgets all measurements. sizes_of_terms[output field]: a typical sum of |terms| of an i.
  void begin(std::vector<double> params, std::vector<double> weights, std::vector<double> factors,
             std::span<const double> sizes_of_terms);

  // For cells of these sizes, in rising order; between them no grid serves.
  FarLimits limits(std::span<const int> sizes, const FarSetting& setting);

  // The errors in cells with radii from 2^size to 2^(size + 1).
  const FarErrors& errors(int size, int order);

 private:
  FarErrors measure(int size, int order);
  double most_acting(const FarErrors& errors, int ratio, double limit) const;
  double typical_factor(int factor) const;

  const FarKernels& kernels_;
  std::unique_ptr<DerivedSum> sum_;
  std::vector<double> params_, weights_, factors_, sizes_of_terms_;
  // Sums that are added up to one output with one factor: errors are relative to these together.
  struct Group {
    int output = 0;   // number of the output field
    int factor = -1;  // FarPart::factor
    std::vector<int> sums;
  };
  std::vector<Group> groups_;
  int outputs_ = 0;
  std::map<std::pair<int, int>, FarErrors> measured_;  // by size and order
};

}  // namespace nbcc
