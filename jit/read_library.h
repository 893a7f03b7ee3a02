// A library's file -> what it says of itself: the sections of a name.
#pragma once
#include <string>
#include <vector>

namespace nbcc {

// The contents of all sections whose names begin with `prefix`, of a shared or relocatable object or of the members of
// an archive, in their order there. Throws UsageError: the bytes are none of these.
std::vector<std::string> sections_of_library(const std::string& bytes, const std::string& prefix);

}  // namespace nbcc
