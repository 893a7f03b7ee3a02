// Writes NAME.f90 of a compiled library, a module of interfaces to its C functions. Tested by
// tests/unit/jit/library_text_test.cpp.
#pragma once
#include "jit/library_text.h"

namespace nbcc {

LanguageBinding fortran_binding(const std::string& library);

}  // namespace nbcc
