// Arrays of int64 bound to inputs of type int -> an error that names the first value that an int cannot hold. Packing
// saturates such values. Tested by tests/numeric/whole_numbers_test.cpp.
#pragma once
#include <functional>
#include <string>

#include "runtime/sum/device.h"

namespace nbcc {

// Throws UsageError. Reads the particles of the request; those of j only if the run reads the caller's arrays again.
// `quoted` names a field; arrays that `summation` says are in a GPU's memory are not read.
void check_whole_numbers(const KernelSource& source, const SumRequest& request, const Summation& summation,
                         const std::function<std::string(std::size_t)>& quoted);

}  // namespace nbcc
