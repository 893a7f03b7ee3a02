// From the caller's arrays into the struct of one particle. Part of emit_cuda.
// What may stand in it is tested by tests/unit/emit_cuda_test.cpp.
#pragma once
#include <set>
#include <string>
#include <utility>

#include "compiler/emit/cuda/cuda_statement.h"
#include "compiler/emit/plan.h"

namespace nbcc {

class CudaLoad {
 public:
  // `unsigned_zeros`: components, by their leaf, of which -0 has to become 0.
  CudaLoad(const Graph& graph, const Plan& plan, const CudaStatements& statements,
           const std::set<std::pair<Op, int>>& unsigned_zeros)
      : graph_(graph), plan_(plan), statements_(statements), unsigned_zeros_(unsigned_zeros) {}

  // Statements that fetch these columns, as c0, c1, ..., and compute what depends on that particle alone. `letter`: i
  // or j.
  std::string particle(const SidePlan& side, const char* letter, const std::set<int>& columns) const;
  // ... and that fill a struct with them.
  std::string fill(const SidePlan& side, const std::set<int>& columns, const char* into) const;

 private:
  std::string fetched(const SidePlan& side, const char* letter, const std::set<int>& columns) const;
  std::string derived(const SidePlan& side, const char* letter) const;
  std::string unsigned_zero(const SidePlan& side, int column) const;

  const Graph& graph_;
  const Plan& plan_;
  const CudaStatements& statements_;
  const std::set<std::pair<Op, int>>& unsigned_zeros_;
};

}  // namespace nbcc
