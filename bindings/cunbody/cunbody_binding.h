// A pipeline in CUNBODY-1's dialect -> cunbody_api.h, and that program's functions in the library and its other files.
// Tested by tests/unit/cunbody_binding_test.cpp; tests/library compiles and runs programs with it.
#pragma once
#include "jit/library_text.h"

namespace nbcc {

// cunbody_api.h stands by itself: the library's own headers do not include it. Of libraries of one pipeline.
LanguageBinding cunbody_binding();

}  // namespace nbcc
