// Pipeline of a periodic sum -> what its terms say before a run: how they fall off, and what a run will sum. The terms
// are interpreted; no kernel is compiled. Tested by tests/unit/cli/report/periodic_outlook_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/passes/far/periodic_terms.h"

namespace nbcc {

struct PeriodicOutlook {
  // One line for each output, as in the statistics of a run: "pot: decay 1, degree 2 fitted, mean zero (tinfoil); ...".
  std::vector<std::string> lines;
  std::string when;    // for which cell and params
  std::string reason;  // without lines: why there are none
};
// `periodic`: with terms, of `pipeline`. Params have their defaults. Where a periodic vector depends on a param without
// a default the cell has periods of 1 along the axes.
PeriodicOutlook periodic_outlook(const Pipeline& pipeline, const PeriodicReading& periodic);

}  // namespace nbcc
