// Splitmix64 (Steele, Lea, Flood 2014) and choices drawn from it: the same numbers on every platform, which the
// distributions of <random> do not promise.
#pragma once
#include <cstdint>
#include <vector>

namespace nbcc::test {

class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int n) { return int(next() % std::uint64_t(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[std::size_t(below(int(from.size())))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace nbcc::test
