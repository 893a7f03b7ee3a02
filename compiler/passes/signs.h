// Node -> which signs its value may have, whatever the particles and params are. NaN is left aside: it has none, and
// who asks must say what becomes of it. Tested by tests/unit/signs_test.cpp.
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

  // From now on `id` has one of `possible` alone, say because the guard asks for it.
  void assume(NodeId id, SignSet possible);
  // Nothing is assumed any more.
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
