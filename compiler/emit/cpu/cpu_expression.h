// One IR node as a C++ expression, and the vector functions that such expressions need. Part of emit_cpu.
#pragma once
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/ir/ir.h"
#include "compiler/isa.h"
#include "compiler/options.h"

namespace nbcc {

struct CpuVectors {
  Isa isa{};
  Precision precision = Precision::Single;
  int lanes() const;  // lanes of a vector of reals
  const char* real() const { return precision == Precision::Double ? "double" : "float"; }
};

// "vreal", "vint", ... or the scalar type's name.
std::string cpu_type(Type type, bool vector);
std::string cpu_literal(double value, Type type);

class CpuExpressions {
 public:
  explicit CpuExpressions(const CpuVectors& vectors) : vectors_(vectors) {}
  // The node's operation on the given arguments. Not for leaves.
  std::string operation(const Graph& graph, const Node& node, const std::array<std::string, 3>& args, bool vector);
  // Definitions of all functions used so far: mathematical functions and casts.
  std::string functions() const;

 private:
  CpuVectors vectors_;
  std::set<std::string_view> templates_;             // with functions that are used
  std::set<std::pair<std::string_view, int>> libm_;  // functions of libm that are used: name, number of arguments
  int calls_ = 0;                                    // of functions of templates_, of vectors
  bool has_casts_ = false;                           // of reals to integers
};

}  // namespace nbcc
