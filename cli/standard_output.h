// What a command has to say for programs and pipes goes out by write_standard_output().
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "particles/files/replace_file.h"

namespace nbcc {

// The same, indented; what is not UTF-8 in a file's names is replaced. Throws FileError.
void write_json(const nlohmann::ordered_json& value);

}  // namespace nbcc
