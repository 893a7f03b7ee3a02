#include "compiler/emit/cpu/cpu_expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace nbcc {
namespace {

TEST(cpu_expression, types) {
  EXPECT_EQ(cpu_type(Type::Real, true), "vreal");
  EXPECT_EQ(cpu_type(Type::Bool, true), "vmask");
  EXPECT_EQ(cpu_type(Type::Bool, false), "bool");
  EXPECT_EQ(cpu_type(Type::Index, false), "index");
}

TEST(cpu_expression, lanes_fill_a_register) {
  EXPECT_EQ((CpuVectors{Isa::Sse2, Precision::Single}.lanes()), 4);
  EXPECT_EQ((CpuVectors{Isa::Avx512, Precision::Mixed}.lanes()), 16);
  EXPECT_EQ((CpuVectors{Isa::Avx2, Precision::Double}.lanes()), 4);
}

TEST(cpu_expression, literals_are_read_back_as_the_same_number) {
  for (const double x :
       {0.0, 1.0, -2.0, 0.1, 1.0 / 3, 1e300, 5e-324, 123456789012345678.0, 1e16, -0x1.fffffffffffffp-3}) {
    const std::string text = cpu_literal(x, Type::Real);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), x) << text;
    EXPECT_NE(text.find_first_of(".e"), std::string::npos) << text << " would be an integer";
  }
}

TEST(cpu_expression, literals_of_other_types) {
  EXPECT_EQ(cpu_literal(7, Type::Int), "7");
  EXPECT_EQ(cpu_literal(-9007199254740992.0, Type::Index), "-9007199254740992");
  EXPECT_EQ(cpu_literal(1, Type::Bool), "-1");
  EXPECT_EQ(cpu_literal(std::numeric_limits<double>::infinity(), Type::Real), "__builtin_inf()");
  EXPECT_EQ(cpu_literal(-std::numeric_limits<double>::infinity(), Type::Real), "-__builtin_inf()");
  EXPECT_EQ(cpu_literal(std::nan(""), Type::Real), "__builtin_nan(\"\")");
}

std::string functions_after(Op op, Isa isa, Precision precision, int calls = 1) {
  Graph graph;
  const NodeId id = graph.unary(op, graph.leaf(Op::InputJ, 0, Type::Real));
  CpuExpressions expressions({isa, precision});
  for (int call = 0; call < calls; ++call) expressions.operation(graph, graph[id], {"x", "", ""}, true);
  return expressions.functions();
}

TEST(cpu_expression, a_function_brings_the_file_that_has_it_and_those_that_this_calls) {
  const std::string exponential = functions_after(Op::Exp, Isa::Avx2, Precision::Single);
  EXPECT_NE(exponential.find(" exp(T x)"), std::string::npos);
  EXPECT_EQ(exponential.find(" sin(T x)"), std::string::npos);
  EXPECT_EQ(exponential.find("extern"), std::string::npos) << "a kernel calls nothing for it";
  const std::string error = functions_after(Op::Erfc, Isa::Avx2, Precision::Double);
  EXPECT_LT(error.find(" exp(T x)"), error.find(" erfc(T x)"));
  EXPECT_EQ(functions_after(Op::Sqrt, Isa::Avx2, Precision::Single), "");
}

TEST(cpu_expression, functions_are_inline_where_few_calls_are) {
  const auto defines_exp_as = [](int calls) {
    const std::string text = functions_after(Op::Exp, Isa::Avx2, Precision::Single, calls);
    const std::string start = "#define NBCC_FUNCTION ";
    const std::size_t at = text.find(start) + start.size();
    EXPECT_NE(text.find("NBCC_FUNCTION T exp(T x)"), std::string::npos);
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(defines_exp_as(64), "NBCC_INLINE");
  EXPECT_EQ(defines_exp_as(65), "static __attribute__((noinline))");
}

TEST(cpu_expression, an_instruction_set_has_better_functions_of_its_own) {
  EXPECT_NE(functions_after(Op::Exp, Isa::Avx512, Precision::Single).find("scalef"), std::string::npos);
  EXPECT_EQ(functions_after(Op::Exp, Isa::Avx2, Precision::Single).find("scalef"), std::string::npos);
}

TEST(cpu_expression, three_functions_are_those_of_the_c_library) {
  for (const auto& [op, name] : {std::pair(Op::Lgamma, "lgamma"), {Op::Tgamma, "tgamma"}})
    EXPECT_NE(functions_after(op, Isa::Avx512, Precision::Single).find(std::string("float ") + name + "f(float);"),
              std::string::npos);
}

TEST(cpu_expression, only_a_cast_of_a_real_to_a_whole_number_brings_its_functions) {
  for (const Type from : {Type::Real, Type::Int})
    for (const bool vector : {true, false}) {
      Graph graph;
      const NodeId id = graph.cast(graph.leaf(Op::InputJ, 0, from), Type::Index);
      CpuExpressions expressions({Isa::Avx2, Precision::Single});
      expressions.operation(graph, graph[id], {"x", "", ""}, vector);
      EXPECT_EQ(expressions.functions().find("to_vindex") != std::string::npos, from == Type::Real);
    }
}

}  // namespace
}  // namespace nbcc
