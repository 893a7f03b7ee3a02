// Kernel and its summation -> the pair methods that consist of runs of other sums: NearestSum and SymmetricSum. Entry
// point: make_derived_sums().
#include "runtime/sum/derived/nearest.h"
#include "runtime/sum/derived/symmetric.h"
#include "runtime/sum/plan/derived_sums.h"

namespace nbcc {
namespace {

class NearestAndSymmetric : public DerivedSums {
 public:
  NearestAndSymmetric(const Kernel& kernel, const Summation& sum)
      : summation_(sum), nearest_(kernel, sum), symmetric_(kernel, sum) {}

  std::vector<PairMethod> methods() override {
    std::vector<PairMethod> all{nearest_.method(), symmetric_.method()};
    for (const PairMethod& one : summation_.methods()) all.push_back(one.searches ? symmetric_.search(one) : one);
    return all;
  }
  SumStatistics statistics(const RunPlan& last) const override { return symmetric_.statistics(last); }

 private:
  const Summation& summation_;
  NearestSum nearest_;
  SymmetricSum symmetric_;
};

}  // namespace

std::unique_ptr<DerivedSums> make_derived_sums(const Kernel& kernel, const Summation& sum) {
  return std::make_unique<NearestAndSymmetric>(kernel, sum);
}

}  // namespace nbcc
