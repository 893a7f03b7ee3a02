// Plan -> the facts about the loop over pairs that its statements depend on, found before any of them is written.
// Part of emit_cuda.
#pragma once
#include <set>

#include "compiler/emit/cuda/cuda_cutoff.h"
#include "compiler/emit/cuda/cuda_statement.h"
#include "compiler/emit/plan.h"

namespace nbcc {

struct PairLoop {
  std::set<NodeId> needed;  // nodes that have a statement
  bool has_prepass = false;
  RejectBit reject;                           // of a prepass
  std::set<NodeId> prepass;                    // nodes that it needs
  std::set<int> i_members, i_cold, j_members;  // columns that the loop reads; i_cold: for hits only
  std::set<NodeId> minuends;                   // inputs that the differences of all_zero() are taken from
  bool tests_self = false;                     // i_index == j_index is needed
  bool two_loops = false;                      // one with that test, one without
  bool i_index = false;
  bool j_number = false;  // not tiled: a j-particle in registers holds its index
};

// `tiled`: the loop meets all j tile by tile in their order, else those of a search or of the caller's lists.
PairLoop analyse(const Plan& plan, const CudaStatements& statements, const CudaScalars& scalars, bool tiled);

// Columns of a side that the nodes are read from; `leaf`: the op of its inputs.
std::set<int> columns_of(const Graph& graph, const SidePlan& side, Op leaf, const std::set<NodeId>& nodes);

}  // namespace nbcc
