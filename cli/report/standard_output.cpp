// Writes JSON to standard output. Entry points: write_json(), json_text().
#include "cli/report/standard_output.h"

#include <nlohmann/json.hpp>

namespace nbcc {

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void write_json(const nlohmann::ordered_json& value) { write_standard_output(json_text(value) + "\n"); }

}  // namespace nbcc
