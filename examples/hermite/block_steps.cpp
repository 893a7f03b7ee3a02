// Wanted steps -> blocks of particles that are moved together. Its door is BlockSteps. It moves nobody.
#include "examples/hermite/block_steps.h"

#include <cmath>

namespace examples {

BlockSteps::BlockSteps(std::int64_t count, double largest, int finest)
    : finest_(finest),
      tick_(std::ldexp(largest, -finest)),
      largest_(largest),
      level_(std::size_t(count)),
      members_(std::size_t(finest) + 1) {}

void BlockSteps::begin(std::span<const float> wanted) {
  for (std::size_t k = 0; k < level_.size(); ++k) put(std::int64_t(k), level_below(wanted[k], 0));
  find_finest();
}

void BlockSteps::take(std::int64_t time) {
  now_ = time;
  block_.clear();
  for (int level = finest_used_; level >= 0 && now_ % step(level) == 0; --level) {
    std::vector<std::int64_t>& members = members_[std::size_t(level)];
    block_.insert(block_.end(), members.begin(), members.end());
    members.clear();
  }
}

void BlockSteps::end_block(std::span<const float> wanted) {
  for (const std::int64_t particle : block_) {
    int level = level_[std::size_t(particle)];
    const double step_now = std::ldexp(largest_, -level), wants = wanted[std::size_t(particle)];
    if (wants < step_now)
      level = level_below(wants, level);
    else if (wants >= 2 * step_now && level > 0 && now_ % step(level - 1) == 0)
      --level;
    put(particle, level);
  }
  find_finest();
}

void BlockSteps::put(std::int64_t particle, int level) {
  level_[std::size_t(particle)] = std::uint8_t(level);
  members_[std::size_t(level)].push_back(particle);
}

// The first level from `level` on whose step is not more than is wanted, or the last.
int BlockSteps::level_below(double wanted, int level) const {
  while (level < finest_ && std::ldexp(largest_, -level) > wanted) ++level;
  return level;
}

void BlockSteps::find_finest() {
  finest_used_ = finest_;
  while (finest_used_ > 0 && members_[std::size_t(finest_used_)].empty()) --finest_used_;
}

}  // namespace examples
