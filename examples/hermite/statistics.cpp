#include "examples/hermite/statistics.h"

#include <algorithm>
#include <bit>

namespace examples {

Seconds& Seconds::operator+=(const Seconds& other) {
  host += other.host;
  prediction += other.prediction;
  force += other.force;
  correction += other.correction;
  list += other.list;
  steps += other.steps;
  return *this;
}

Seconds& Seconds::operator-=(const Seconds& other) {
  host -= other.host;
  prediction -= other.prediction;
  force -= other.force;
  correction -= other.correction;
  list -= other.list;
  steps -= other.steps;
  return *this;
}

void Statistics::count(const std::vector<std::int64_t>& block) {
  for (const std::int64_t particle : block) ++steps_[std::size_t(particle)];
}

void Statistics::add(std::int64_t block_size, const Seconds& took) {
  for (BlockBin* bin : {&total_, &bins_[std::size_t(std::bit_width(std::uint64_t(block_size)) - 1)]}) {
    ++bin->blocks;
    bin->particles += block_size;
    bin->seconds += took;
  }
}

Statistics Statistics::since(const Statistics& earlier) const {
  const auto subtract = [](BlockBin& bin, const BlockBin& other) {
    bin.blocks -= other.blocks;
    bin.particles -= other.particles;
    bin.seconds -= other.seconds;
  };
  Statistics result = *this;
  subtract(result.total_, earlier.total_);
  for (std::size_t k = 0; k < bins_.size(); ++k) subtract(result.bins_[k], earlier.bins_[k]);
  for (std::size_t k = 0; k < steps_.size(); ++k) result.steps_[k] -= earlier.steps_[k];
  return result;
}

std::int64_t Statistics::fewest() const { return *std::ranges::min_element(steps_); }
std::int64_t Statistics::most() const { return *std::ranges::max_element(steps_); }

}  // namespace examples
