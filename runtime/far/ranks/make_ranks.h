// The kernel of a caller -> FarRanks whose particles are in domains (far_domains.h), and whose backends have essential
// trees (ranks_far_backend.h).
#pragma once
#include <memory>

#include "runtime/far/far_ranks.h"

namespace nbcc {

// `source` must outlive the result.
std::unique_ptr<FarRanks> make_ranks(const KernelSource& source);

}  // namespace nbcc
