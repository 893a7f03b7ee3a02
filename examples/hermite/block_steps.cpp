// Wanted steps -> blocks of particles that are moved together. Its entry point is BlockSteps. It moves nobody.
#include "examples/hermite/block_steps.h"

#include <cmath>

namespace examples {

BlockSteps::BlockSteps(double largest, int finest) : finest_(finest), members_(std::size_t(finest) + 1) {
  for (int level = 0; level <= finest; ++level) steps_.push_back(std::ldexp(largest, -level));
}

void BlockSteps::begin(std::span<const float> wanted) {
  for (std::size_t k = 0; k < wanted.size(); ++k)
    members_[std::size_t(level_below(wanted[k], 0))].push_back(std::int64_t(k));
  find_finest();
}

std::int64_t BlockSteps::next_count() const {
  const std::int64_t time = next();
  std::size_t count = 0;
  for (int level = finest_used_; level >= 0 && time % ticks(level) == 0; --level)
    count += members_[std::size_t(level)].size();
  return std::int64_t(count);
}

void BlockSteps::go(std::int64_t time) {
  now_ = time;
  block_.clear();
  parts_.clear();
  for (int level = finest_used_; level >= 0 && now_ % ticks(level) == 0; --level) {
    std::vector<std::int64_t>& members = members_[std::size_t(level)];
    block_.insert(block_.end(), members.begin(), members.end());
    parts_.push_back({level, block_.size()});
    members.clear();
  }
}

// A few nanoseconds for each particle: with many of them the device waits for this.
void BlockSteps::end_block(std::span<const float> wanted) {
  std::size_t k = 0;
  for (const auto& [level, end] : parts_) {
    const double step = steps_[std::size_t(level)];
    const bool may_grow = level > 0 && now_ % ticks(level - 1) == 0;
    for (; k < end; ++k) {
      const double wants = wanted[k];
      const int then = wants < step ? level_below(wants, level) : may_grow && wants >= 2 * step ? level - 1 : level;
      members_[std::size_t(then)].push_back(block_[k]);
    }
  }
  find_finest();
}

// The first level from `level` on whose step is not more than is wanted, or the last.
int BlockSteps::level_below(double wanted, int level) const {
  while (level < finest_ && steps_[std::size_t(level)] > wanted) ++level;
  return level;
}

void BlockSteps::find_finest() {
  finest_used_ = finest_;
  while (finest_used_ > 0 && members_[std::size_t(finest_used_)].empty()) --finest_used_;
}

}  // namespace examples
