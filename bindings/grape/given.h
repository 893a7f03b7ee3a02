// What the interfaces of GRAPE say of arguments that no sum can be made of. Tests: tests/grape/g5_test.cpp,
// g6_test.cpp.
#pragma once
#include <string>

#include "runtime/api/nbcc.hpp"

namespace nbcc::grape {

inline void check_count(const char* name, int count) {
  if (count < 0) throw Error(NBCC_ERROR_USAGE, std::string(name) + " is " + std::to_string(count));
}

// An array of so many particles; of none it may be null.
inline void check_given(const char* name, const void* array, int count = 1) {
  if (count > 0 && !array) throw Error(NBCC_ERROR_USAGE, std::string(name) + " is a null pointer");
}

}  // namespace nbcc::grape
