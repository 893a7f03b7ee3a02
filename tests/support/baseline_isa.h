// The instruction set that every processor of this machine's family has.
#pragma once
#include <algorithm>

#include "compiler/isa.h"

namespace nbcc::test {

inline Isa baseline_isa() { return std::ranges::find(kIsas, kHostTriple, &IsaFacts::triple)->isa; }

}  // namespace nbcc::test
