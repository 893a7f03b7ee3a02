// Node -> the signs that its value may have, for any particles and params. NaN has no sign and is not considered: the
// caller must handle it. Tested by tests/unit/compiler/passes/facts/signs_test.cpp.
#pragma once
#include <cstdint>
#include <map>

#include "compiler/ir/ir.h"

namespace nbcc {

// A set of signs.
using SignSet = std::uint8_t;
inline constexpr SignSet kNegative = 1, kZero = 2, kPositive = 4, kAnySign = 7;

class Signs {
 public:
  explicit Signs(const Graph& graph) : graph_(graph) {}

  // Assumes from now on that the sign of `id` is in `possible`, e.g. because the guard requires it.
  void assume(NodeId id, SignSet possible);
  // Drops all assumptions.
  void forget();

  SignSet of(NodeId id);
  bool is_positive(NodeId id) { return of(id) == kPositive; }
  bool is_never_negative(NodeId id) { return (of(id) & kNegative) == 0; }

 private:
  SignSet find(NodeId id);
  SignSet of_function(const Node& node, SignSet a);
  SignSet of_numbers(const Node& node, SignSet a, SignSet b);

  const Graph& graph_;  // may grow
  std::map<NodeId, SignSet> assumed_, known_;
};

}  // namespace nbcc
