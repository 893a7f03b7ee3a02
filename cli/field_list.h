// A pipeline's fields as `check` and `inspect` show them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// A line for each, in columns; that of the roles is at least so wide.
std::string field_lines(const std::vector<FieldLayout>& fields, std::size_t role_width = 0);

// A list of objects. An output's role holds its reduction, or is just "output" and has the reduction beside it.
nlohmann::ordered_json json_of(const std::vector<FieldLayout>& fields, bool reduction_beside = false);

}  // namespace nbcc
