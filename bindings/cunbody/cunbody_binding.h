// CUNBODY-1's interface for a pipeline in its dialect: cunbody_api.h, and the functions in the library and its other
// files. Tested by tests/unit/bindings/cunbody/cunbody_binding_test.cpp; tests/library compiles and runs programs with
// it.
#pragma once
#include "jit/library_text.h"

namespace nbcc {

// Only for libraries with one pipeline. The library's own headers do not include cunbody_api.h.
LanguageBinding cunbody_binding();

}  // namespace nbcc
