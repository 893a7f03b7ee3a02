// What this nbcc consists of: the versions of nbcc and of the libraries in it, as JSON for `nbcc --version --json`.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace nbcc {

nlohmann::ordered_json versions();

}  // namespace nbcc
