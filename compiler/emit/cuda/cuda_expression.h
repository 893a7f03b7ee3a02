// One IR node as a CUDA C++ expression over scalars. Part of emit_cuda.
#pragma once
#include <array>
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {

// What fixes the meaning of an expression beyond its node.
struct CudaScalars {
  bool wide = false;   // Real is double, else float
  bool exact = false;  // division and square root as IEEE 754 has them, else within 2 ulp
  Type resolved(Type type) const { return type != Type::Real ? type : wide ? Type::Double : Type::Float; }
};

std::string cuda_type(Type type, const CudaScalars& scalars);
std::string cuda_literal(double value, Type type, const CudaScalars& scalars);

// Component `component` of a side's particle, both named by the side's letter: i or j.
std::string cuda_component(const char* type, const char* side, int component);
// Conditions are loaded as whole numbers.
std::string cuda_from_loaded(const std::string& text, Type type);

// The node's operation on the given argument texts, which must be names: an argument may appear twice. Leaves are not
// its business.
std::string cuda_operation(const Graph& graph, const Node& node, const std::array<std::string, 3>& args,
                           const CudaScalars& scalars);

}  // namespace nbcc
