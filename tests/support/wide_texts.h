// Texts of sums over wide vectors, xi and xj of {0} elements with weights wj, for tests that compute them as products.
#pragma once
#include <fmt/format.h>

#include <string>

#include "compiler/text/source.h"

namespace nbcc::test {

inline constexpr const char* kWideInputs = "input_i real xi[{0}];\ninput_j real xj[{0}];\ninput_j real wj;\n";
// The squared distance r2, and the weighted Gaussian e.
inline constexpr const char* kWideDistance =
    "real r2 = 0;\nfor (int k = 0; k < {0}; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);\nreal e = wj * exp(-r2 / "
    "{0});\n";

// `outputs`: declarations, also of further inputs; `statements` may use r2 and e.
inline Source wide_text(const std::string& outputs, const std::string& statements, int elements) {
  const std::string format = kWideInputs + outputs + kWideDistance + statements;
  return {"wide.pipe", fmt::format(fmt::runtime(format), elements)};
}

}  // namespace nbcc::test
