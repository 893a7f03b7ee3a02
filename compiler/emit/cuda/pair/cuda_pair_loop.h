// Plan -> properties of the pair loop on which its statements depend.
// Part of emit_cuda.
#pragma once
#include <set>

#include "compiler/emit/cuda/pair/cuda_cutoff.h"
#include "compiler/emit/cuda/pair/cuda_statement.h"
#include "compiler/emit/plan.h"

namespace nbcc {

struct PairLoop {
  std::set<NodeId> needed;  // nodes that have a statement
  bool has_prepass = false;
  RejectBit reject;                            // the test of the prepass
  std::set<NodeId> prepass;                    // nodes that the test needs
  std::set<int> i_members, i_cold, j_members;  // columns that the loop reads; i_cold: read for hits only
  std::set<NodeId> minuends;                   // minuends of the differences that all_zero() tests
  bool tests_self = false;                     // i_index == j_index is needed
  bool two_loops = false;                      // a loop with that test and one without
  bool i_index = false;
  bool j_number = false;  // not tiled, and JParticle holds its index in `number`
};

// `tiled`: the loop visits all j, tile by tile, in order; otherwise the j of a search or of the caller's lists.
PairLoop analyse(const Plan& plan, const CudaStatements& statements, const CudaScalars& scalars, bool tiled);

// Columns of a side from which the nodes are read; `leaf`: the op of the side's inputs.
std::set<int> columns_of(const Graph& graph, const SidePlan& side, Op leaf, const std::set<NodeId>& nodes);

}  // namespace nbcc
