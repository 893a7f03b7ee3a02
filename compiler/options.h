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

// Loops over elements that are products of vectors: in working precision, or by matrix instructions of a GPU, of
// elements rounded to half precision (11 bits) or to the sum of two halves (22 bits). Sums are in single precision.
enum class MatrixUnits { Off, Half, TwoHalves };

struct Options {
  Precision precision = Precision::Single;
  Math math = Math::Fast;
  RootMode root = RootMode::Refined;
  MatrixUnits matrix_units = MatrixUnits::Off;
};

}  // namespace nbcc
