// The part of a periodic sum that comes from all but the near images: weights of the j -> weights of the points of the
// cell's grid -> sums at these points -> sums of each i. On the host. Tested by tests/numeric/periodic_sum_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/far/periodic/far_operator.h"
#include "runtime/for_each.h"

namespace nbcc {

// [sum] what the constants of the components add to all i. gathered[weight][points + 2]: the weights of the points,
// then the sum of the weights of j and the sum of their magnitudes. Throws UsageError if they have no periodic sum.
std::vector<double> constants_of(const FarOperator& through, std::span<const double> gathered,
                                 std::span<const std::string> weight_names);

// [weight][points + 2] as constants_of() takes them. positions[particle][axis] of j; weights[weight][j].
std::vector<double> weights_of_points(const FarOperator& through, std::span<const double> positions,
                                      std::span<const std::span<double>> weights, const ForEach& for_each);

class ImageSums {
 public:
  // `gathered`: the sum of weights_of_points() of all j. Throws UsageError if the weights have no periodic sum.
  void collect(std::shared_ptr<const FarOperator> through, std::span<const double> gathered,
               std::span<const std::string> weight_names, const ForEach& for_each);
  // sums[sum] at a position.
  void evaluate(const double* position, std::span<double> sums) const;

 private:
  std::shared_ptr<const FarOperator> through_;
  std::vector<double> at_points_;  // [sum][point]
  std::vector<double> constant_;   // [sum]
};

}  // namespace nbcc
