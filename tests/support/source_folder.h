// Where the sources are: pipelines/, and what lies beside them. Tests may run on another machine than the one that
// built them, which NBCC_SOURCE_DIR of the environment then tells.
#pragma once
#include <string>

namespace nbcc::test {

std::string source_folder();

}  // namespace nbcc::test
