// What sums to a tolerance did, as lines for the end of an output.
#pragma once
#include <cstdint>
#include <string>

#include "runtime/api/nbcc.h"

namespace examples {

// Comment lines, which begin with '#' and then `name`: method, measured error beside the tolerance, pairs of each body,
// precision. All pairs in the precision of the pipeline, compiled_for: the reason for them; in a precision that the
// tolerance has raised: the measured error, if one was measured. "" if nothing was summed.
std::string tolerance_report(const char* name, const nbcc_statistics& statistics, std::int64_t bodies,
                             nbcc_precision compiled_for);

}  // namespace examples
