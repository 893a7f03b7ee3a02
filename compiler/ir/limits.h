// How large a pipeline may become: as written out by lowering, and by every pass after it.
#pragma once
#include <cstdint>

namespace nbcc {

// Operations of a graph. More than any pipeline that a person writes; beyond it kernels take minutes to compile.
inline constexpr std::int32_t kMaxNodes = 200'000;
// Nodes that a pass may make on its way, the ones that nothing needs in the end included: what bounds its time and
// memory.
inline constexpr std::int32_t kMaxNodesInWork = 4'000'000;
struct TooManyNodes {};  // thrown by Graph beyond that; optimize() makes a CompileError of it

}  // namespace nbcc
