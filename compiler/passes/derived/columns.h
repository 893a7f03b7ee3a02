// A pipeline that is linear in an input of j -> the pipeline that sums for several values of that input at once, so
// that what a pair computes besides is shared: a matrix times a block of vectors. Tested by
// tests/unit/compiler/passes/derived/columns_test.cpp.
#pragma once
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {

// Why a pipeline has no columns; the message is for the caller.
struct NoColumns {
  std::string message;
};

// The input `vector`, a real number of each j, becomes an array of `count` numbers, and `output`, an output(sum), an
// array of `count` results: element k is what the output is where the input is element k. Other outputs are left out.
// It is not checked that the output is linear in the input. Throws NoColumns.
Pipeline with_columns(const Pipeline& pipeline, const std::string& vector, const std::string& output, int count);

}  // namespace nbcc
