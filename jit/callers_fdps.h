// A pipeline -> a functor for FDPS, which reads and writes the members of a user's classes.
// Tested by tests/unit/callers_fdps_test.cpp; tests/library compiles and runs it.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"
#include "compiler/text/source.h"
#include "jit/callers.h"

namespace nbcc {

// The members that hold a field: the first of them that a class has is meant. By the field's name.
using ClassMap = std::map<std::string, std::vector<std::string>>;

// Of "xi=pos", "mj=mass:charge", "q=moments.q[0]". Throws UsageError that quotes what is no such thing.
ClassMap class_map_from(const std::vector<std::string>& words);

struct FdpsField {
  Argument argument;
  FieldLayout layout;
  std::vector<std::string> members;  // none of a param
};

struct FdpsFunctor {
  Signature signature;
  std::vector<FdpsField> fields;  // in order of declaration
};

// Throws CompileError for a pipeline that cannot be summed in parts, as FDPS does, and UsageError for fields without
// members.
FdpsFunctor fdps_functor(const Source& source, const Pipeline& pipeline, const KernelSource& kernel,
                         const ClassMap& map);
// Throws UsageError for what is no field of any of them.
void check_class_map(const ClassMap& map, const std::vector<FdpsFunctor>& functors);

// The text of NAME_fdps.hpp.
std::string fdps_header(const LibraryText& library, const std::vector<FdpsFunctor>& functors);

}  // namespace nbcc
