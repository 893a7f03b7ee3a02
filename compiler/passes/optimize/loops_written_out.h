// Finds statements of loops that kernels execute as so many operations, because element_loops.h did not make them a
// loop. `nbcc check` reports them: such kernels compile slowly. Tested by
// tests/unit/compiler/passes/optimize/element_loops_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/options.h"

namespace nbcc {

// Statements of fewer rounds are not reported.
inline constexpr int kMostUnreported = 256;

struct LoopWrittenOut {
  Location where;
  int rounds = 0;
  std::string reason;
};

// At most one for each line. `pipeline`: as parsed.
std::vector<LoopWrittenOut> loops_written_out(const Pipeline& pipeline, Math math);

}  // namespace nbcc
