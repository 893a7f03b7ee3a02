// The options' names as the command line, the cache keys and the kernel's header spell them, by name().
// Reading them back is the business of whoever takes them in.
#include "compiler/options.h"

namespace nbcc {

std::string_view name(Precision precision) {
  switch (precision) {
    case Precision::Single:
      return "single";
    case Precision::Mixed:
      return "mixed";
    case Precision::Double:
      return "double";
  }
  return "unknown";
}

std::string_view name(Math math) { return math == Math::Fast ? "fast" : "precise"; }

std::string_view name(RootMode mode) {
  switch (mode) {
    case RootMode::Estimate:
      return "estimate";
    case RootMode::Refined:
      return "refined";
    case RootMode::Exact:
      return "exact";
  }
  return "unknown";
}

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::Sse2:
      return "sse2";
    case Isa::Avx2:
      return "avx2";
    case Isa::Avx512:
      return "avx512";
    case Isa::Neon:
      return "neon";
  }
  return "unknown";
}

}  // namespace nbcc
