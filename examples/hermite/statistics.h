// What blocks a run was made of, and what they took.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace examples {

struct Seconds {
  double host = 0;  // finding blocks
  // On the device. A GPU is waited for once, so that all that it does is in the last one; HermiteSettings::apart says
  // otherwise.
  double prediction = 0, force = 0, correction = 0;
  double list = 0, steps = 0;  // lists of blocks to the device, steps back

  double communication() const { return list + steps; }
  double calculation() const { return prediction + force + correction; }
  double sum() const { return host + communication() + calculation(); }
  Seconds& operator+=(const Seconds& other);
  Seconds& operator-=(const Seconds& other);
};

// Blocks of 2^k to 2^(k+1) - 1 particles.
struct BlockBin {
  std::int64_t blocks = 0, particles = 0;
  Seconds seconds;
};

class Statistics {
 public:
  explicit Statistics(std::int64_t count) : steps_(std::size_t(count)) {}

  void count(const std::vector<std::int64_t>& block);
  void add(std::int64_t block_size, const Seconds& took);
  // Blocks and steps after those of `earlier`, which are of the same run.
  Statistics since(const Statistics& earlier) const;
  // The steps that each particle has taken.
  const std::vector<std::int64_t>& steps_of_each() const { return steps_; }
  void set_steps_of_each(std::vector<std::int64_t> steps) { steps_ = std::move(steps); }

  std::int64_t count() const { return std::int64_t(steps_.size()); }
  std::int64_t blocks() const { return total_.blocks; }
  std::int64_t steps() const { return total_.particles; }  // of all particles
  std::int64_t fewest() const;                             // steps of one particle
  std::int64_t most() const;
  double mean_block() const { return total_.blocks > 0 ? double(total_.particles) / double(total_.blocks) : 0; }
  const Seconds& seconds() const { return total_.seconds; }
  const BlockBin& total() const { return total_; }
  const std::array<BlockBin, 40>& bins() const { return bins_; }

 private:
  BlockBin total_;
  std::array<BlockBin, 40> bins_{};
  std::vector<std::int64_t> steps_;
};

}  // namespace examples
