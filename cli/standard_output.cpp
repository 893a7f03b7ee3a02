// Writes JSON to standard output. Entry point: write_json().
#include "cli/standard_output.h"

#include <nlohmann/json.hpp>

namespace nbcc {

void write_json(const nlohmann::ordered_json& value) {
  write_standard_output(value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace nbcc
