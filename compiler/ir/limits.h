// How large a pipeline may become: as written out by lowering, and by every pass after it.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/text/diagnostic.h"

namespace nbcc {

// Operations that lowering and derivatives make, the ones that nothing needs in the end included: counted as they are
// made; and those of a graph that a pass has made. More than any pipeline that a person writes; beyond it kernels take
// minutes to compile.
inline constexpr std::int32_t kMaxNodes = 100'000;
// Nodes that a pass may make on its way, the ones that nothing needs in the end included: what bounds its time and
// memory.
inline constexpr std::int32_t kMaxNodesInWork = 4'000'000;
// Thrown by Graph beyond kMaxNodesInWork, by derivatives beyond kMaxNodes. Where the place in the text is known,
// lowering says that; elsewhere the message names the pipeline at most.
struct TooManyNodes : CompileError {
  explicit TooManyNodes(std::int32_t limit, const std::string& pipeline = {});
  ~TooManyNodes() override;  // not inline, as CompileError's
};

}  // namespace nbcc
