// Params that kernels read at indices known at run time only -> what a kernel finds at KernelSource::tables, made once
// for all runs with the same values. Tested by tests/numeric/table_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// Why the splines through a param's elements would not be finite numbers, "" where they are. Names the first element
// that is infinite or NaN, or the two between which a spline leaves the range of the numbers that kernels have of it.
// `params`: the values of all params.
std::string spline_fault(const KernelSource& source, const FieldLayout& field, std::span<const double> params);

struct Tables {
  // `params`: the values of all params.
  Tables(const KernelSource& source, std::span<const double> params);
  std::vector<std::byte> bytes;
  std::int64_t number;  // of no other tables in this process
};

}  // namespace nbcc
