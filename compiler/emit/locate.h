// What a search for neighbours asks of a kernel's text: where particles are, how far they reach, and how long the axes
// of the box are, as doubles.
#pragma once
#include <string>

#include "compiler/emit/finish.h"
#include "compiler/emit/plan.h"
#include "compiler/kernel_source.h"
#include "compiler/passes/neighbourhood.h"

namespace nbcc {

SearchLayout search_layout(const Neighbourhood& neighbourhood);

// Whether the kernel has columns of all inputs that the search asks for.
bool can_locate(const Neighbourhood& neighbourhood, const Plan& plan);

// The bodies of three functions: of an i-particle, of a j-particle, of the run.
struct LocateText {
  std::string i, j, extent;
};

// `rows` says where the function keeps its k-th double, as a format of k: coordinates by axis, and behind them the
// reach where the particle has one of its own; of the run the lengths of the axes that are periodic, and behind them
// the reach where it is the same for all, and from row 4 on a reduced basis of a cell of three vectors.
LocateText locate_text(const Neighbourhood& neighbourhood, const Plan& plan, const ScalarSpelling& spelling,
                       const LocateText& rows);

}  // namespace nbcc
