// An exception of derivative.h and adjoint.h. Plain data.
#pragma once
#include "compiler/ir/ops.h"

namespace nbcc {

// Thrown if a function between a variable and the value has no derivative among the operations.
struct NotDifferentiable {
  NodeId node;
};

}  // namespace nbcc
