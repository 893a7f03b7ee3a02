// What a command has to say for programs and pipes goes out here, so that a full disk or a closed pipe is noticed.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace nbcc {

// Throws FileError when not all of it could be written.
void write_standard_output(std::string_view text);

// The same, indented; what is not UTF-8 in a file's names is replaced.
void write_json(const nlohmann::ordered_json& value);

}  // namespace nbcc
