// A number from 0 to 1 -> a colour whose brightness grows with it. Tested by tests/unit/chart/heat_map_test.cpp.
#pragma once
#include <array>
#include <cstdint>

namespace nbcc {

enum class ColourMap { Grey, Viridis };

using Colour = std::array<std::uint8_t, 3>;  // sRGB

// fraction: 0 to 1.
Colour colour_of(ColourMap map, double fraction);

}  // namespace nbcc
