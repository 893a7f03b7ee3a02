// Output arrays in which two numbers share memory, so that one result would overwrite another. Tested by
// tests/unit/runtime/sum/check/run_check_test.cpp.
#pragma once
#include "runtime/sum/request/pack.h"

namespace nbcc {

// numbers: in a row of the array. Compares addresses; reads no data.
bool rows_overlap(const ArrayView& view, int numbers);

}  // namespace nbcc
