// A count with its noun, for messages: "1 particle", "2 particles".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "fmt/format.h"

namespace nbcc {

inline std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace nbcc
