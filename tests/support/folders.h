// Where the sources and what was built of them are. Functions and not macros of the build: so every test is compiled by
// the same command wherever the project lies, and a compiler cache serves all its checkouts.
#pragma once
#include <string>
#include <vector>

namespace nbcc::test {

// pipelines/ and what lies beside it. Tests may run on another machine than the one that built them, which
// NBCC_SOURCE_DIR of the environment then tells.
std::string source_folder();

// Names of the files in pipelines/ without their extension, sorted.
std::vector<std::string> library();

std::string build_folder();

// The path of the command that was built.
std::string nbcc_command();

}  // namespace nbcc::test
