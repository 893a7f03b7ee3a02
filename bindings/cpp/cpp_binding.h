// The pipelines of a compiled library -> NAME.hpp, functions of arrays that know their lengths, over the header for C.
// Compiles nothing. Tested by tests/unit/library_text_test.cpp.
#pragma once
#include "jit/library_text.h"

namespace nbcc {

LanguageBinding cpp_binding(const std::string& library);

}  // namespace nbcc
