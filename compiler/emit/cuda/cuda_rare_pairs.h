// Pairs that a pipeline leaves out one by one: a particle and itself, particles at the same place. Tiles without such a
// pair, nearly all of them, have a pair loop without the test. Part of emit_cuda.
// Tested by tests/unit/cuda_rare_pairs_test.cpp.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"

namespace nbcc {

struct RarePairs {
  bool self = false;                // i_index == j_index, or ...
  std::vector<NodeId> differences;  // ... all of these are 0: xj - xi or xi - xj, two or three
  std::set<NodeId> guards;          // that hold for every other pair
};

// `guards` is empty where nothing is gained, and then so is the rest.
RarePairs find_rare_pairs(const Pipeline& pipeline, const Plan& plan);

// What tells an i and a j at the same place from others: "own[r]" -> hashed(hashed(hashed(0, own[r].c0), own[r].c1),
// own[r].c2).
std::string hash_of_place(const Graph& graph, const RarePairs& rare, const SidePlan& side, Op leaf,
                          const std::string& particle);

}  // namespace nbcc
