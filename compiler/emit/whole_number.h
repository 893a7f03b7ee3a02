// What emitters and the runtime's description have in common about whole numbers: which outputs are held in 64 bits,
// and literals. Tested by tests/unit/whole_number_test.cpp.
#pragma once
#include <cstddef>
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {

// Of an output component: an extreme of whole numbers, or an index chosen by one. A double would round them beyond
// 2^53.
bool is_whole_extreme(const Pipeline& pipeline, std::size_t output);

// Whether finish() leaves an output component as it is.
bool is_untouched(const Pipeline& pipeline, std::size_t output);

// As C++ has it, for 64 bits; what is beyond them becomes the largest or the smallest number that there is.
std::string whole_literal(double value);
// What a minimum or a maximum without any candidate is.
std::string no_candidate(Reduction reduction);

}  // namespace nbcc
