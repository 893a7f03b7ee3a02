// Checks int64 arrays that are bound to inputs of type int. Values beyond the range of int are an error, because
// packing would saturate them. Tested by tests/numeric/whole_numbers_test.cpp.
#pragma once
#include <functional>
#include <string>

#include "runtime/sum/plan/device.h"

namespace nbcc {

// Throws UsageError that names the first such value. Reads the i-particles of the request, and the j-particles only if
// the run packs them again. `quoted` returns the name of a field for messages. Arrays that `summation` cannot read on
// the host are not checked.
void check_int_range(const KernelSource& source, const SumRequest& request, const Summation& summation,
                     const std::function<std::string(std::size_t)>& quoted);

}  // namespace nbcc
