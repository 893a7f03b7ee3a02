// Facts of a pipeline's text that no kernel needs. Plain data, which compiler and runtime share; made by text_facts()
// in passes/facts/text_facts.h.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/index_guard.h"

namespace nbcc {

// How results depend on i_index and j_index, besides the indices that an argmin or argmax returns.
enum class IndexUse : std::uint8_t { Unused, Equal, Value };

// Without a text nothing is known: results may depend on every field, and on the values of indices.
struct TextFacts {
  IndexGuard index_guard = IndexGuard::None;
  IndexUse index_use = IndexUse::Value;
  std::vector<bool> is_read;  // [field in order of declaration] false: no result depends on it; empty: not known
  // A hash of fields and statements, without comments and the pipeline's name: the same for every device and precision.
  // 0: not known.
  std::uint64_t digest = 0;
};

}  // namespace nbcc
