// Sums of squared differences of wide vectors -> norms and products:
//
//   sum_k (y[k] - x[k])^2  =  |x - c|^2 + |y - c|^2 - 2 (x - c).(y - c)        x of i, y of j
//
// A product takes one operation for an element, a difference two. The norms are values of one particle. The more the
// norms exceed the sum, the more digits are lost; so the caller gives a common centre c, a new param. Infinite where a
// norm is, and never negative. Tested by tests/unit/compiler/passes/outputs/centred_products_test.cpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/derived_kernels.h"
#include "compiler/ir/ir.h"

namespace nbcc {

struct CentredProducts {
  Pipeline pipeline;
  std::vector<Centre> centres;  // the new params
};

// `with_loops`: a pipeline after with_element_loops(). The result has its loops written out. Nothing if no loop is such
// a sum, or if there are tables, whose params are the last.
std::optional<CentredProducts> centred_products(const Pipeline& with_loops);

}  // namespace nbcc
