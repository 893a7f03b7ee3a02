// Every ordered pair of the language's functions of one argument, and what their derivatives call, in finish(), where
// kernels call the C library one number at a time. LLVM knows those functions by their names and would make calls of
// other ones of them (sin and cos of one number become sincos), which no list of allowed symbols can foresee.
#include <elf.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/ops.h"
#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cpu_toolchain.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

std::vector<const OpFacts*> functions_of_one_number(bool differentiable) {
  std::vector<const OpFacts*> functions;
  for (int op = 0; op < kOpCount; ++op) {
    const OpFacts& f = facts(Op(op));
    const bool is_written = f.op == Op::Abs || (f.is_function && f.arity == 1);
    const bool has_derivative = f.partial != nullptr || f.op == Op::Sqrt;
    if (is_written && (has_derivative || !differentiable)) functions.push_back(&f);
  }
  return functions;
}

// Powers, exponentials and functions of two numbers that LLVM has other calls for when it knows an argument.
const std::vector<std::string> kOthers{
    "pow(x, 2)",     "pow(x, 0.5)",    "pow(x, -0.5)",    "pow(x, -1)",     "pow(x, 0.333333333333333333)",
    "pow(2, x)",     "pow(10, x)",     "pow(2, n)",       "pow(10, n)",     "pow(x, n)",
    "pow(0.5, n)",   "exp2(n)",        "exp2(-n)",        "exp2(n + 1)",    "exp(x * 2.30258509299404568)",
    "pow(x, x)",     "atan2(x, n)",    "atan2(x, 1)",     "hypot(x, n)",    "hypot(x, 0)",
    "fmod(x, 0.25)", "fmod(n, 2)",     "copysign(x, -n)", "sin(-x)",        "cos(-x)",
    "tan(-x)",       "cosh(-x)",       "erf(-x)",         "min(x, n)",      "max(x, n)",
    "fma(x, x, n)",  "exp(x) - 1",     "log(1 + x)",      "pow(exp(x), 2)", "log(pow(x, 3))",
    "sqrt(x * x)",   "round(x + 0.5)", "floor(x * 8)",    "exp2(log2(x))",  "pow(pow(x, 3), 0.25)"};

// An output o[k] for each of the sums; x is what pairs give, and n a whole number. A term that is NaN, infinite or huge
// counts as 7, so that it hides no other one.
std::string finish_of(const std::vector<std::vector<std::string>>& sums) {
  std::string text = fmt::format(
      "input_i real xi; input_i int ni; input_j real xj; output(sum) double s, o[{}];\n"
      "double kept(double t) {{ return select(abs(t) < 1e6, t, 7); }}\ns += xi * xj;\n"
      "void finish() {{\n  double x = s; int n = ni;\n",
      sums.size());
  for (std::size_t k = 0; k < sums.size(); ++k) {
    text += fmt::format("  o[{}] = 0", k);
    for (const std::string& term : sums[k]) text += fmt::format("\n      + kept({})", term);
    text += ";\n";
  }
  return text + "}\n";
}

// f(g(x)) and f(x) g(x), each as the form has it, for a twelfth of the f in a run. Bessel functions are kernel text
// that is inlined: once each.
std::vector<std::vector<std::string>> pairs(bool differentiable, const char* form) {
  std::vector<std::vector<std::string>> sums;
  const auto add = [&](const std::string& term) { sums.back().push_back(fmt::format(fmt::runtime(form), term)); };
  sums.emplace_back();
  for (const std::string& other : kOthers) add(other);
  const std::vector<const OpFacts*> functions = functions_of_one_number(differentiable);
  for (const OpFacts* f : sampled(functions, 12)) {
    sums.emplace_back();
    for (const OpFacts* g : functions) {
      if (!f->is_bessel && !g->is_bessel) add(fmt::format("{}({}(x))", f->name, g->name));
      add(fmt::format("{}(x) * {}(x)", f->name, g->name));
    }
  }
  return sums;
}

// Instruction sets take precisions in turn, beginning with `first`: compiling is what this waits for.
void expect_as_interpreted(const std::string& text, Precision first) {
  const Pipeline pipeline = parse({"pairs.pipe", text});
  // Exact in single precision, as their product with 1 is: finish() gets the same numbers in every kernel.
  const OracleInput input{.ni = 3, .nj = 1, .i = {{0.375, 1.25, -0.625}, {3, 2, 1}}, .j = {{1}}, .params = {}};
  const OracleOutput expected = interpret(pipeline, input);
  Options options{.precision = first};
  for (const Isa isa : runnable_isas()) {
    const Columns got = CpuRun(pipeline, options, isa)(input);
    ASSERT_EQ(got.size(), expected.values.size());
    for (std::size_t k = 0; k < got.size(); ++k)
      for (std::size_t i = 0; i < std::size_t(input.ni); ++i)
        // A term below 1e6 is as many times as wrong as what it is made of, by some roundings.
        EXPECT_NEAR(got[k][i], expected.values[k][i], 1e6 * 1e-14)
            << describe(options, isa) << ", output " << k << " of x = " << input.i[0][i];
    options.precision = options.precision == Precision::Single ? Precision::Double : Precision::Single;
  }
}

TEST(FunctionPairs, ValuesInFinishAreThoseOfTheOracle) {
  expect_as_interpreted(finish_of(pairs(false, "{}")), Precision::Single);
}
TEST(FunctionPairs, DerivativesInFinishAreThoseOfTheOracle) {
  expect_as_interpreted(finish_of(pairs(true, "grad({}, x)")), Precision::Double);
}

// The names that an object takes from elsewhere.
std::set<std::string> undefined_symbols(const std::string& object) {
  const auto at = [&]<typename T>(T, std::size_t offset) {
    T value;
    std::memcpy(&value, object.data() + offset, sizeof value);
    return value;
  };
  const auto header = at(Elf64_Ehdr{}, 0);
  std::set<std::string> names;
  for (int s = 0; s < header.e_shnum; ++s) {
    const auto section = at(Elf64_Shdr{}, header.e_shoff + std::size_t(s) * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_SYMTAB) continue;
    const auto strings = at(Elf64_Shdr{}, header.e_shoff + section.sh_link * sizeof(Elf64_Shdr));
    for (std::size_t k = sizeof(Elf64_Sym); k < section.sh_size; k += sizeof(Elf64_Sym)) {
      const auto symbol = at(Elf64_Sym{}, section.sh_offset + k);
      if (symbol.st_shndx == SHN_UNDEF) names.insert(object.data() + strings.sh_offset + symbol.st_name);
    }
  }
  return names;
}

// Also for machines that this is not, whose vectors call functions one number at a time.
TEST(FunctionPairs, ObjectsCallNothingThatTheirTextDoesNotDeclare) {
  // What instructions are made of where a processor has none.
  const std::set<std::string> instructions{"memcpy", "memset", "memmove", "fma",    "fmaf",  "floor", "floorf",
                                           "ceil",   "ceilf",  "trunc",   "truncf", "round", "roundf"};
  for (const std::string in_pairs : {"", "o[0] += sin(xj) + cos(xj) + lgamma(xj) + exp2(xi) * pow(2, ni);\n"})
    for (const IsaFacts& isa : kIsas) {
      const Pipeline pipeline = parse({"pairs.pipe", in_pairs.empty() ? finish_of({kOthers, {"sin(x) * cos(x)"}})
                                                                      : "input_i real xi; input_i int ni; input_j real "
                                                                        "xj; output(sum) real o[1];\n" +
                                                                            in_pairs});
      const KernelSource source = build_cpu_kernel(pipeline, {}, isa.isa, "");
      const std::set<std::string> called = undefined_symbols(cpu_toolchain()->compile(source, source.first()));
      EXPECT_FALSE(called.empty());
      for (const std::string& symbol : called)
        EXPECT_TRUE(source.first().source.find(" " + symbol + "(") != std::string::npos ||
                    instructions.contains(symbol))
            << isa.name << ": " << symbol;
    }
}

}  // namespace
}  // namespace nbcc::test
