// Limits on the size of a pipeline, after lowering and after every pass.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/text/diagnostic.h"

namespace nbcc {

// Maximum number of operations that lowering and derivatives make, dead ones included, and of those in a graph that a
// pass returns. More than any hand-written pipeline needs; larger kernels take minutes to compile.
inline constexpr std::int32_t kMaxNodes = 100'000;
// Maximum number of nodes that a pass may make, dead ones included: it bounds the time and memory of a pass.
inline constexpr std::int32_t kMaxNodesInWork = 4'000'000;
// Thrown by Graph beyond kMaxNodesInWork, by derivatives beyond kMaxNodes. Lowering adds the location in the text if it
// is known; otherwise the message names at most the pipeline.
struct TooManyNodes : CompileError {
  explicit TooManyNodes(std::int32_t limit, const std::string& pipeline = {});
  ~TooManyNodes() override;  // not inline, as CompileError's
};

}  // namespace nbcc
