// Writes NAME.hpp of a compiled library: C++ functions whose array arguments have lengths, over the C header.
// Tested by tests/unit/jit/library_text_test.cpp.
#pragma once
#include "jit/library_text.h"

namespace nbcc {

LanguageBinding cpp_binding(const std::string& library);

}  // namespace nbcc
