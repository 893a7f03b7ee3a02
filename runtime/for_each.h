// A loop whose items may run on several threads: body(0), ..., body(count - 1), each once, in any order.
#pragma once
#include <cstdint>
#include <functional>

namespace nbcc {

using ForEach = std::function<void(std::int64_t count, const std::function<void(std::int64_t)>& body)>;

}  // namespace nbcc
