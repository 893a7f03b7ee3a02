// Diagnostics -> the section of the documentation that explains the first error. Entry point: near_page(). Tested by
// tests/unit/cli/report/near_page_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/text/diagnostic.h"

namespace nbcc {

// "docs/reference/language.md#tables"; "" without an error.
std::string near_page(const std::vector<Diagnostic>& diagnostics);

// The line below the diagnostics, "help: docs/reference/language.md#tables\n"; "" without an error.
std::string help_line(const std::vector<Diagnostic>& diagnostics);

}  // namespace nbcc
