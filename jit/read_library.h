// Reads sections by name from the bytes of a library.
#pragma once
#include <string>
#include <vector>

namespace nbcc {

// The contents of all sections whose names begin with `prefix`, from a shared or relocatable object or the members of
// an archive, in file order. Throws UsageError if the bytes are not such a file.
std::vector<std::string> sections_of_library(const std::string& bytes, const std::string& prefix);

}  // namespace nbcc
