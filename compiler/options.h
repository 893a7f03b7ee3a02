// The choices that fix what the compiler makes of a pipeline; all of them are part of every cache key.
#pragma once
#include <string_view>

namespace nbcc {

enum class Precision { Single, Mixed, Double };
enum class Math { Fast, Precise };
// How 1/sqrt(x) and its powers are made under Math::Fast: the hardware's estimate as it is, refined to the working
// precision, or by square root and division.
enum class RootMode { Estimate, Refined, Exact };
enum class Isa { Sse2, Avx2, Avx512, Neon };

std::string_view name(Precision precision);  // "single", "mixed", "double"
std::string_view name(Math math);            // "fast", "precise"
std::string_view name(RootMode mode);        // "estimate", "refined", "exact"
std::string_view name(Isa isa);              // "sse2", "avx2", "avx512", "neon"

struct Options {
  Precision precision = Precision::Single;
  Math math = Math::Fast;
  RootMode root = RootMode::Refined;
};

}  // namespace nbcc
