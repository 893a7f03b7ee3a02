// Other programs that the command makes use of where they are installed.
#pragma once
#include <string>

namespace nbcc {

// The program's whole path, found along $PATH; "" when it is not there.
std::string find_program(const std::string& name);

}  // namespace nbcc
