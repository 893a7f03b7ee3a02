// Long arrays in a random pipeline, and loops over their elements, which kernels keep as loops. Private to
// random_pipeline.cpp.
#pragma once
#include <cstdint>
#include <string>

#include "tests/support/random_expression.h"
#include "tests/support/random_text.h"

namespace nbcc::test {

// Draws from a source of its own, so that the other statements of a seed do not depend on it.
class ElementLoopAuthor {
 public:
  ElementLoopAuthor(std::uint64_t seed, Scope& scope, RandomText& text) : random_(~seed), scope_(scope), text_(text) {}

  // In some pipelines: inputs, outputs and loops; results of loops become local variables.
  void write();

 private:
  void element_loop(int length);
  std::string element_condition();
  std::string element_term();

  RandomSource random_;
  Scope& scope_;
  RandomText& text_;
};

}  // namespace nbcc::test
