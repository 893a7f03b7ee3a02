// A number from 0 to 1 -> a colour. Interface: colour_of().
#include "chart/colour_map.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace nbcc {
namespace {

// The colours of each map at equal distances. Viridis is by N. J. Smith and S. van der Walt (2015), for Matplotlib:
// perceptually uniform, also with any kind of colour blindness.
const std::vector<Colour>& anchors_of(ColourMap map) {
  static const std::vector<Colour> grey{{0, 0, 0}, {255, 255, 255}};
  static const std::vector<Colour> viridis{{68, 1, 84},    {72, 40, 120},  {62, 73, 137},  {49, 104, 142},
                                           {38, 130, 142}, {31, 158, 137}, {53, 183, 121}, {110, 206, 88},
                                           {181, 222, 43}, {253, 231, 37}};
  return map == ColourMap::Grey ? grey : viridis;
}

}  // namespace

Colour colour_of(ColourMap map, double fraction) {
  const std::vector<Colour>& anchors = anchors_of(map);
  const double place = fraction * double(anchors.size() - 1);
  const std::size_t below = std::min(std::size_t(place), anchors.size() - 2);
  Colour colour;
  for (std::size_t c = 0; c < 3; ++c)
    colour[c] = std::uint8_t(std::lround(std::lerp(anchors[below][c], anchors[below + 1][c], place - double(below))));
  return colour;
}

}  // namespace nbcc
