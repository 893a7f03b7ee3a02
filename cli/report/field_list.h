// The list of a pipeline's fields, as `check` and `inspect` print it.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// One line per field, in aligned columns; the column of roles is at least `role_width` characters wide.
std::string field_lines(const std::vector<FieldLayout>& fields, std::size_t role_width = 0);

// A list of objects. The role of an output is "output(sum)", or, if `reduction_beside`, "output" with a key
// "reduction".
nlohmann::ordered_json json_of(const std::vector<FieldLayout>& fields, bool reduction_beside = false);

}  // namespace nbcc
