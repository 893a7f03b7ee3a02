// Random texts whose terms take roots and whole powers of bases that may be negative, with and without guards: what
// fast mathematics must not regroup across the sign of a base.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"

namespace nbcc::test {

// The text of a pipeline: sums, a count and a maximum of a few such terms. The same seed gives the same text
// everywhere.
std::string random_signed_text(std::uint64_t seed);

// Inputs of one pair each, so that a NaN hides nothing: every combination of signs. No base is 0 or nearly 0.
std::vector<OracleInput> signed_pairs();

}  // namespace nbcc::test
