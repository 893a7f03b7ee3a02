#include "examples/hermite/statistics.h"

#include <algorithm>
#include <bit>

namespace examples {

Seconds& Seconds::operator+=(const Seconds& other) {
  host += other.host;
  communication += other.communication;
  calculation += other.calculation;
  return *this;
}

void Statistics::add(const std::vector<std::int64_t>& block, const Seconds& took) {
  const auto size = std::uint64_t(block.size());
  for (BlockBin* bin : {&total_, &bins_[std::size_t(std::bit_width(size) - 1)]}) {
    ++bin->blocks;
    bin->particles += std::int64_t(size);
    bin->seconds += took;
  }
  for (const std::int64_t particle : block) ++steps_[std::size_t(particle)];
}

std::int64_t Statistics::fewest() const { return *std::ranges::min_element(steps_); }
std::int64_t Statistics::most() const { return *std::ranges::max_element(steps_); }

}  // namespace examples
