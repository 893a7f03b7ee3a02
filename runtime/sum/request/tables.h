// Converts params that kernels read at run-time indices (tables) to the bytes that kernels read, in the layout of
// KernelSource::tables. Done once for all runs with the same params. Tested by tests/numeric/table_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// Checks that splines through a param's elements are finite; returns "" or the reason why not. The reason names the
// first element that is infinite or NaN, or from which on a coefficient overflows the kernel's number type.
// `params`: the values of all params.
std::string spline_fault(const KernelSource& source, const FieldLayout& field, std::span<const double> params);

struct Tables {
  // `params`: the values of all params.
  Tables(const KernelSource& source, std::span<const double> params);
  std::vector<std::byte> bytes;
  std::int64_t number;  // unique id in this process
};

}  // namespace nbcc
