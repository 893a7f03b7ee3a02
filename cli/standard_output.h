// What a command has to say for programs and pipes goes out here, so that a full disk or a closed pipe is noticed.
#pragma once
#include <string_view>

namespace nbcc {

// Throws FileError when not all of it could be written.
void write_standard_output(std::string_view text);

}  // namespace nbcc
