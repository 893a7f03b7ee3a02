// Sums, differences and products of two int inputs, which wrap around beyond 2^31 - 1. Their ranges are known for given
// particles only. Tested by tests/unit/compiler/passes/facts/int_operations_test.cpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/ir.h"

namespace nbcc {

struct IntOperation {
  Op op = Op::Add;              // Add, Sub or Mul
  NodeId a = kNone, b = kNone;  // inputs or params, in Pipeline::pair
  Location where;
  std::string text;  // "ki * kj"
};

// The operations of int inputs that an output depends on.
std::vector<IntOperation> int_operations(const Pipeline& pipeline);

// A sentence about a pair for which the operation wraps; nothing if there is none.
std::optional<std::string> wrapping_pair(const Pipeline& pipeline, const IntOperation& operation,
                                         const OracleInput& input);

}  // namespace nbcc
