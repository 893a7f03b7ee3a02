// The choices that fix what the compiler makes of a pipeline; all of them are part of every cache key.
#pragma once
#include <string_view>

namespace nbcc {

enum class Precision { Single, Mixed, Double };
enum class Math { Fast, Precise };
// How 1/sqrt(x) and its powers are made under Math::Fast: the hardware's estimate as it is, refined to the working
// precision, or by square root and division.
enum class RootMode { Estimate, Refined, Exact };

// As the command line, the cache keys and the kernels' first lines spell them.
constexpr std::string_view name(Precision precision) {
  constexpr std::string_view names[] = {"single", "mixed", "double"};
  return names[int(precision)];
}
constexpr std::string_view name(Math math) { return math == Math::Fast ? "fast" : "precise"; }
constexpr std::string_view name(RootMode mode) {
  constexpr std::string_view names[] = {"estimate", "refined", "exact"};
  return names[int(mode)];
}

struct Options {
  Precision precision = Precision::Single;
  Math math = Math::Fast;
  RootMode root = RootMode::Refined;
};

}  // namespace nbcc
