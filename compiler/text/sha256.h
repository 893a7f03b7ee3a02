// SHA-256 (FIPS 180-4) of texts, as `sha256sum` prints it. Tested by tests/unit/cli/report/provenance_test.cpp.
#pragma once
#include <string>
#include <string_view>

namespace nbcc {

// 64 hexadecimal digits, lower case.
std::string sha256(std::string_view bytes);

}  // namespace nbcc
