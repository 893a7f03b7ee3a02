// Writes NAME_fdps.hpp, functors for FDPS over the C header, from pipelines and the names of members of a user's
// classes. Tested by tests/unit/bindings/fdps/fdps_binding_test.cpp; tests/library compiles and runs it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "jit/library_text.h"

namespace nbcc {

// Field name -> names of members. The field is the first of these members that a class has.
using ClassMap = std::map<std::string, std::vector<std::string>>;

// Parses entries such as "xi=pos", "mj=mass:charge", "q=moments.q[0]". Throws UsageError that quotes an invalid entry.
ClassMap class_map_from(const std::vector<std::string>& entries);

// The binding throws CompileError for a pipeline that cannot be summed over several subsets of the j-particles, as FDPS
// does, and UsageError for fields without members and members without a field.
LanguageBinding fdps_binding(const std::string& library, const ClassMap& map);

}  // namespace nbcc
