// Pipelines and the members of a user's classes -> NAME_fdps.hpp, functors for FDPS over the header for C.
// Tested by tests/unit/fdps_binding_test.cpp; tests/library compiles and runs it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "jit/library_text.h"

namespace nbcc {

// The members that hold a field: the first of them that a class has is meant. By the field's name.
using ClassMap = std::map<std::string, std::vector<std::string>>;

// Of "xi=pos", "mj=mass:charge", "q=moments.q[0]". Throws UsageError that quotes what is no such thing.
ClassMap class_map_from(const std::vector<std::string>& entries);

// Its header is refused (CompileError) for a pipeline that cannot be summed over parts of the j-particles, as FDPS
// does, and (UsageError) for fields without members and members without a field.
LanguageBinding fdps_binding(const std::string& library, const ClassMap& map);

}  // namespace nbcc
