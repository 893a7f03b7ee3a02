// A pipeline that looks for nearest neighbours, without a guard -> the same with a bound for each i, so that a search
// can look for them: what is not below the bound changes nothing. Who runs it raises or lowers the bounds
// (runtime/sum/nearest.cpp). Tested by tests/numeric/nearest_test.cpp.
#pragma once
#include <optional>

#include "compiler/ir/ir.h"

namespace nbcc {

// All outputs are a min or argmin of one and the same number, which is proved to grow with a distance. Has an input of
// i more, nbcc_bound; an output(min) more, nbcc_least, that number; and in place of j_index an input of j, nbcc_j.
// Nothing: the pipeline is of another kind, or has neighbours as it is.
std::optional<Pipeline> nearest_pipeline(const Pipeline& pipeline);

}  // namespace nbcc
