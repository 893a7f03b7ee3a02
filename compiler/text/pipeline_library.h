// The pipelines that nbcc brings along (pipelines/), by the names of their files without ".pipe". They are part of the
// program, so that they are found wherever it is installed. Tested by
// tests/unit/cli/commands/command_library_test.cpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

// In alphabetical order.
std::vector<std::string_view> library_pipelines();

// The text of a pipeline; empty if there is none of this name.
std::string_view library_text(std::string_view name);

// True for a word that may name a pipeline of the library: without folder and ending.
bool is_library_name(std::string_view word);

// "there is no pipeline 'gravty' in the library; did you mean 'gravity'?", or how to list them.
std::string no_such_pipeline(std::string_view name);

}  // namespace nbcc
