// What the environment says to programs that were written for a GRAPE. Every function may throw nbcc::Error.
// Test: tests/grape/g6_test.cpp.
#pragma once
#include <string>

#include "runtime/api/nbcc.hpp"

namespace nbcc::grape {

// Of $NBCC_DEVICE, "a,b,c", entry number `id`, over again from the first; "cpu" without it.
std::string device_of(int id);
// Of $NBCC_PRECISION; mixed without it.
nbcc_precision precision();
// A positive number in this variable, or `otherwise`.
int count_of(const char* variable, int otherwise);

}  // namespace nbcc::grape
