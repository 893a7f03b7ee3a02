// One IR node as a CUDA C++ expression over scalars. Part of emit_cuda.
#pragma once
#include <array>
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {

// Precision of an expression.
struct CudaScalars {
  bool wide = false;   // Real is double; otherwise float
  bool exact = false;  // IEEE 754 division and square root; otherwise within 2 ulp
  Type resolved(Type type) const { return type != Type::Real ? type : wide ? Type::Double : Type::Float; }
};

std::string cuda_type(Type type, const CudaScalars& scalars);
std::string cuda_literal(double value, Type type, const CudaScalars& scalars);

// Load of a component of a particle; `side`: the side's letter, i or j, which is also the variable with its index.
std::string cuda_component(const char* type, const char* side, int component);
// Converts a loaded value to its type: conditions are loaded as integers.
std::string cuda_from_loaded(const std::string& text, Type type);

// The node's operation on the given arguments, which must be names, since an argument may appear twice. Not for leaves.
std::string cuda_operation(const Graph& graph, const Node& node, const std::array<std::string, 3>& args,
                           const CudaScalars& scalars);

}  // namespace nbcc
