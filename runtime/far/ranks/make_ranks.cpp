// Connects domains with their backends. Entry point: make_ranks().
#include "runtime/far/ranks/make_ranks.h"

#include "runtime/far/ranks/far_domains.h"
#include "runtime/far/ranks/ranks_far_backend.h"

namespace nbcc {
namespace {

class RanksOfDomains final : public FarDomains {
 public:
  using FarDomains::FarDomains;
  std::shared_ptr<FarBackend> make_backend(const Kernel& kernel, const Summation& summation,
                                           Precision at_least) override {
    return std::make_shared<RanksFarBackend>(kernel, summation, at_least, *this);
  }
};

}  // namespace

std::unique_ptr<FarRanks> make_ranks(const KernelSource& source) { return std::make_unique<RanksOfDomains>(source); }

}  // namespace nbcc
