// Writes results of a command to standard output: text by write_standard_output(), JSON by write_json().
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "particles/files/replace_file.h"

namespace nbcc {

// Writes JSON, indented; bytes that are not UTF-8 (in names from a file) are replaced. Throws FileError.
void write_json(const nlohmann::ordered_json& value);

}  // namespace nbcc
