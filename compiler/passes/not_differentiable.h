// Thrown by derivative.h and adjoint.h. Plain data.
#pragma once
#include "compiler/ir/ops.h"

namespace nbcc {

// Thrown where a function on the way has no derivative among the operations.
struct NotDifferentiable {
  NodeId node;
};

}  // namespace nbcc
