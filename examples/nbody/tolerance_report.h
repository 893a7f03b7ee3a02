// What sums to a tolerance did, as lines for the end of an output.
#pragma once
#include <cstdint>
#include <string>

#include "runtime/api/nbcc.h"

namespace examples {

// Comment lines, which begin with '#' and then `name`: method, measured error beside the tolerance, pairs of each body,
// precision. If all pairs were summed, with the reason. "" if nothing was summed. compiled_for: the precision of the
// pipeline, which a far field raises where the tolerance needs it.
std::string tolerance_report(const char* name, const nbcc_statistics& statistics, std::int64_t bodies,
                             nbcc_precision compiled_for);

}  // namespace examples
