// Individual block time steps: who is moved next, and when.
//
// A step is the largest one divided by a power of two, its level. Particles of one level are always at one time, a
// multiple of their step; so a block is made of whole levels, and finding it takes no search through all particles.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace examples {

class BlockSteps {
 public:
  // All particles at time 0. Times are whole numbers of ticks; the largest step is 2^finest of them, the smallest one.
  BlockSteps(double largest, int finest);

  double tick() const { return steps_.back(); }  // in the unit of `largest`
  std::int64_t now() const { return now_; }

  // At time 0, once: the steps to begin with, of all particles.
  void begin(std::span<const float> wanted);
  // When the next block ends.
  std::int64_t next() const { return (now_ / ticks(finest_used_) + 1) * ticks(finest_used_); }
  std::int64_t next_count() const;  // how many are moved then
  // Goes there, or to a time before, at which nobody is moved. From here on block() tells who is to be moved; they are
  // then given the steps that they want, in the order of the block. A step grows by a factor of two at most, and where
  // its multiples allow it.
  void go() { go(next()); }
  void go(std::int64_t time);
  const std::vector<std::int64_t>& block() const { return block_; }
  void end_block(std::span<const float> wanted);

 private:
  struct Part {
    int level;
    std::size_t end;  // in the block
  };
  std::int64_t ticks(int level) const { return std::int64_t(1) << (finest_ - level); }
  int level_below(double wanted, int level) const;
  void find_finest();

  int finest_, finest_used_ = 0;
  std::int64_t now_ = 0;
  std::vector<double> steps_;                       // of a level
  std::vector<std::vector<std::int64_t>> members_;  // of a level
  std::vector<std::int64_t> block_;
  std::vector<Part> parts_;  // the levels that it is made of
};

}  // namespace examples
