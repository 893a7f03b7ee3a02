// The options that determine the generated code; all of them are part of every cache key.
#pragma once
#include <string_view>

namespace nbcc {

enum class Precision { Single, Mixed, Double };
enum class Math { Fast, Precise };
// How Math::Fast computes 1/sqrt(x) and its powers: by the hardware's estimate alone, by the estimate refined to the
// working precision, or by square root and division.
enum class RootMode { Estimate, Refined, Exact };

// Names in the command line, in the cache keys and in the first line of each kernel.
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
