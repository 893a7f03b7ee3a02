// Sums of every_image() on the CPU, for boxes in which at most one image of a pair, the minimum image, is within reach.
// Such sums need no copies: a derived kernel (nearest_images_pipeline() of compiler/passes/derived/every_image.h)
// computes minimum images, each pair once where that costs less (symmetric.h).
//
//   |<------- period L ------->|     The images of j are L apart along an axis. If one image is nearer to i than the
//   j        i                 j'    reach R, the next is farther away than L - R, which is more than R if L > 2 R.
//            |<- R ->|
//
// Each run decides whether the box is large enough. Tested by tests/numeric/nearest_images_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/sum/derived/image_copies.h"
#include "runtime/sum/plan/derived_sum.h"

namespace nbcc {

class NearestImages {
 public:
  // `callers`: the kernel as callers see it, with copies(); `device`: its device. Both must outlive this object.
  NearestImages(const Kernel& callers, const Summation& device) : callers_(callers), device_(device) {}

  // False: the run is over copies whatever the box is. Reads no particle.
  bool may_run(const SumRequest& request) const;
  // True if every period is longer than twice the reach. `unit`: [axis] from positions to the units of the reach.
  bool is_large(std::span<const double> params, const std::vector<double>& unit, double reach) const;
  // The request for sum(), valid until the next call, if is_large(). `i`, `j`: positions. Null: the run is over copies,
  // because the device has no derived kernel, because i and j are two sets and the text may test self_pair, or because
  // a particle is so many periods away that the run over copies reports an error.
  const SumRequest* bind(const SumRequest& request, const Coordinates& i, const Coordinates& j);
  DerivedSum& sum() { return *sum_; }

  // Adds the counts and times of all runs. `is_last`: the last run was one of these.
  void add_to(SumStatistics& statistics, bool is_last) const;

 private:
  using Lengths = std::array<double, 3>;  // [axis]
  bool place(const Lengths& lengths, const Coordinates& at, std::vector<double>& place) const;

  const Kernel& callers_;
  const Summation& device_;
  std::unique_ptr<DerivedSum> sum_;        // made when a run needs it
  std::vector<double> place_i_, place_j_;  // [axis][particle] positions in the cell around the origin
  SumRequest bound_;
};

}  // namespace nbcc
