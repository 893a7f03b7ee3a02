// Writes results of a command to standard output: text by write_standard_output(), JSON by write_json().
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "particles/files/replace_file.h"

namespace nbcc {

// JSON as a text, indented; bytes that are not UTF-8 (in names from a file) are replaced.
std::string json_text(const nlohmann::ordered_json& value);

// Writes this text and a line feed. Throws FileError.
void write_json(const nlohmann::ordered_json& value);

}  // namespace nbcc
