// The random number generator for every seed that a user can give: Blackman and Vigna's xoshiro256** (2018), its state
// filled by splitmix64 as the authors recommend. It is implemented here because the distributions of <random> differ
// between standard libraries, and a seed must give the same file everywhere.
#pragma once
#include <bit>
#include <cstdint>

namespace nbcc {

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t mixed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
      word = mixed ^ (mixed >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t carried = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= carried;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, 1); a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

 private:
  std::uint64_t state_[4];
};

}  // namespace nbcc
