// The table of operations, and the arithmetic in double that it points to. Entry points: facts(), evaluate(). Each
// operation contains the loop over its columns, because the interpreter spends its time there. Derivatives are in
// partials.cpp.
#include "compiler/ir/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "compiler/ir/bessel.h"
#include "compiler/ir/lattice.h"

namespace nbcc {
namespace {

using Int64 = std::int64_t;
using Bits = std::uint64_t;

Int64 to_integer(double x) {
  constexpr double limit = 9223372036854775808.0;
  if (std::isnan(x)) return 0;
  if (x >= limit) return std::numeric_limits<Int64>::max();
  if (x < -limit) return std::numeric_limits<Int64>::min();
  return Int64(x);
}

double wrap(Bits bits, Type type) { return type == Type::Int ? double(std::int32_t(bits)) : double(Int64(bits)); }

template <double (*rule)(double)>
void values(const Columns& args, double* out, int count) {
  for (int k = 0; k < count; ++k) out[k] = rule(args[0][k]);
}
template <double (*rule)(double, double)>
void values(const Columns& args, double* out, int count) {
  for (int k = 0; k < count; ++k) out[k] = rule(args[0][k], args[1][k]);
}
template <double (*rule)(double, double, double)>
void values(const Columns& args, double* out, int count) {
  for (int k = 0; k < count; ++k) out[k] = rule(args[0][k], args[1][k], args[2][k]);
}
template <Bits (*rule)(Int64)>
void integer_values(const Columns& args, Type type, double* out, int count) {
  for (int k = 0; k < count; ++k) out[k] = wrap(rule(to_integer(args[0][k])), type);
}
template <Bits (*rule)(Int64, Int64)>
void integer_values(const Columns& args, Type type, double* out, int count) {
  for (int k = 0; k < count; ++k) out[k] = wrap(rule(to_integer(args[0][k]), to_integer(args[1][k])), type);
}

void vectors_of(const Columns& args, double* out, int count) {
  for (int k = 0; k < count; ++k)
    for (int c = 0; c < 3; ++c) out[3 * k + c] = args[std::size_t(c)][k];
}
void cells_of(const Columns& args, double* out, int count) {
  for (int k = 0; k < count; ++k)
    for (int c = 0; c < 3; ++c) std::copy_n(args[std::size_t(c)] + 3 * k, 3, out + 9 * k + 3 * c);
}
template <int component>
void component_of(const Columns& args, double* out, int count) {
  for (int k = 0; k < count; ++k) out[k] = args[0][3 * k + component];
}

void minimum_images(const Columns& args, double* out, int count) {
  const double* cell = args[1];
  Lattice lattice(cell);
  for (int k = 0; k < count; ++k) {
    // All pairs nearly always have the same cell.
    if (const double* next = args[1] + 9 * k; !std::equal(next, next + 9, cell)) lattice = Lattice(cell = next);
    const double* d = args[0] + 3 * k;
    std::ranges::copy(lattice.shortest({d[0], d[1], d[2]}), out + 3 * k);
  }
}

double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double inverse_root(double x) { return 1.0 / std::sqrt(x); }

// sin(pi x) for the exact product pi x: the argument is reduced before the multiplication.
double sine_of_pi_times(double x) {
  double r = std::remainder(x, 2.0);
  if (std::fabs(r) > 0.5) r = std::copysign(1.0, r) - r;
  return std::sin(std::numbers::pi * r);
}

double cosine_of_pi_times(double x) {
  const double r = std::fabs(std::remainder(x, 2.0));
  if (r <= 0.25) return std::cos(std::numbers::pi * r);
  if (r <= 0.75) return std::sin(std::numbers::pi * (0.5 - r));
  return -std::cos(std::numbers::pi * (1.0 - r));
}

// Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3". The lower words of a and b and
// both of c are the counter, the upper words of a and b the key. Kernels have it in templates/math/philox.h.in.
double random_bits(double first, double second, double third) {
  using Word = std::uint32_t;
  const auto a = Bits(to_integer(first)), b = Bits(to_integer(second)), c = Bits(to_integer(third));
  std::array<Word, 4> x{Word(a), Word(b), Word(c), Word(c >> 32)};
  Word key0 = Word(a >> 32), key1 = Word(b >> 32);
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
    const Bits p = Bits(x[0]) * 0xD2511F53u, q = Bits(x[2]) * 0xCD9E8D57u;
    x = {Word(q >> 32) ^ x[1] ^ key0, Word(q), Word(p >> 32) ^ x[3] ^ key1, Word(p)};
  }
  return double(x[0]);
}

// std::lgamma writes the sign to a global variable, a data race between threads.
double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

// -1 is treated separately: the quotient of the lowest integer and -1 overflows, which traps on x86.
Bits quotient(Int64 a, Int64 b) { return b == 0 ? 0 : b == -1 ? 0 - Bits(a) : Bits(a / b); }
Bits remainder_of(Int64 a, Int64 b) { return b == 0 || b == -1 ? 0 : Bits(a % b); }

double convert(double x, Type to, Type from) {
  if (to == Type::Bool) return x != 0;
  if (!is_integral(to)) return x;
  const Int64 whole = to_integer(x);
  if (from == Type::Index || to == Type::Index) return wrap(Bits(whole), to);
  constexpr Int64 lowest = std::numeric_limits<std::int32_t>::min();
  constexpr Int64 highest = std::numeric_limits<std::int32_t>::max();
  return double(whole < lowest ? lowest : whole > highest ? highest : whole);
}

constexpr OpFacts leaf(Op op, std::string_view name, Binding binding, std::optional<Role> role = {}) {
  return {.op = op, .name = name, .binding = binding, .role = role, .cost = 0};
}

constexpr OpFacts function(Op op, std::string_view name, int arity, Rounding rounding, decltype(OpFacts::values) values,
                           partials::Partial* partial = nullptr) {
  return {.op = op,
          .name = name,
          .arity = arity,
          .typing = Typing::Real,
          .is_function = true,
          .rounding = rounding,
          .values = values,
          .partial = partial};
}

constexpr OpFacts bessel_function(Op op, std::string_view name, decltype(OpFacts::values) values,
                                  partials::Partial* partial) {
  OpFacts facts = function(op, name, 1, {12}, values, partial);
  facts.is_bessel = true;
  return facts;
}

constexpr OpFacts scaled_by(OpFacts facts, decltype(OpFacts::error_scale) scale) {
  facts.error_scale = scale;
  return facts;
}

// J0 and J1 oscillate: near a zero their absolute error is as large as at the neighbouring extrema, so the error is
// relative to the amplitude. Below |x| = 6 they are accurate to the last digits near zeros, too.
constexpr OpFacts oscillating(OpFacts facts) {
  facts.error_scale = [](double x, double result) {
    const double size = std::fabs(x), amplitude = std::sqrt(2 / (std::numbers::pi * size));
    return size < 6 ? std::fabs(result) : std::max(std::fabs(result), amplitude);
  };
  return facts;
}

constexpr Rounding kFunctionRounding{8}, kGammaRounding{24}, kQuotientRounding{.epsilons = 4, .estimates = 2};

using enum Typing;
// In the order of Op. Line breaks are set by hand, for readable rows.
// clang-format off
constexpr std::array<OpFacts, kOpCount> kOps{{
    leaf(Op::Const, "const", Binding::Constant),
    leaf(Op::Param, "param", Binding::Param, Role::Param),
    leaf(Op::InputI, "input_i", Binding::I, Role::InputI),
    leaf(Op::InputJ, "input_j", Binding::J, Role::InputJ),
    leaf(Op::IIndex, "i_index", Binding::I),
    leaf(Op::JIndex, "j_index", Binding::J),
    leaf(Op::ImageIndex, "image_index", Binding::Pair),
    leaf(Op::SelfPair, "self_pair", Binding::Pair),
    leaf(Op::InputPair, "input_pair", Binding::Pair, Role::InputPair),
    leaf(Op::Output, "output", Binding::I, Role::Output),
    leaf(Op::ElementOfI, "element_of_i", Binding::I, Role::InputI),
    leaf(Op::ElementOfJ, "element_of_j", Binding::J, Role::InputJ),
    leaf(Op::ElementOfParam, "element_of_param", Binding::Param, Role::Param),

    {.op = Op::Neg, .name = "neg", .arity = 1, .typing = Number, .cost = 0,
     .values = values<[](double a) { return -a; }>,
     .integer_values = integer_values<[](Int64 a) { return 0 - Bits(a); }>, .partial = partials::neg},
    {.op = Op::Abs, .name = "abs", .arity = 1, .typing = Number, .values = values<std::fabs>,
     .integer_values = integer_values<[](Int64 a) { return a < 0 ? 0 - Bits(a) : Bits(a); }>, .partial = partials::abs},
    {.op = Op::Sqrt, .name = "sqrt", .arity = 1, .typing = Real, .is_function = true, .rounding = kQuotientRounding,
     .values = values<std::sqrt>, .partial = partials::sqrt},
    {.op = Op::Rsqrt, .name = "rsqrt", .arity = 1, .typing = Real, .is_function = true, .rounding = kQuotientRounding,
     .values = values<inverse_root>, .partial = partials::rsqrt},
    function(Op::Cbrt, "cbrt", 1, kQuotientRounding, values<std::cbrt>, partials::cbrt),
    // GPUs compute exp as a power of two, whose exponent is rounded: an additional error of one epsilon of x.
    scaled_by(function(Op::Exp, "exp", 1, kFunctionRounding, values<std::exp>, partials::exp),
              [](double x, double result) { return std::fabs(result) * (1 + std::fabs(x) / 8); }),
    function(Op::Exp2, "exp2", 1, kFunctionRounding, values<std::exp2>, partials::exp2),
    function(Op::Log, "log", 1, kFunctionRounding, values<std::log>, partials::log),
    function(Op::Log2, "log2", 1, kFunctionRounding, values<std::log2>, partials::log2),
    function(Op::Expm1, "expm1", 1, kFunctionRounding, values<std::expm1>, partials::expm1),
    function(Op::Log1p, "log1p", 1, kFunctionRounding, values<std::log1p>, partials::log1p),
    function(Op::Log10, "log10", 1, kFunctionRounding, values<std::log10>, partials::log10),
    function(Op::Sin, "sin", 1, kFunctionRounding, values<std::sin>, partials::sin),
    function(Op::Cos, "cos", 1, kFunctionRounding, values<std::cos>, partials::cos),
    {.op = Op::SinPi, .name = "sinpi", .arity = 1, .typing = Real, .is_function = true, .rounding = kFunctionRounding,
     .values = values<sine_of_pi_times>, .partial = partials::sinpi},
    {.op = Op::CosPi, .name = "cospi", .arity = 1, .typing = Real, .is_function = true, .rounding = kFunctionRounding,
     .values = values<cosine_of_pi_times>, .partial = partials::cospi},
    function(Op::Tan, "tan", 1, kFunctionRounding, values<std::tan>, partials::tan),
    function(Op::Asin, "asin", 1, kFunctionRounding, values<std::asin>, partials::asin),
    function(Op::Acos, "acos", 1, kFunctionRounding, values<std::acos>, partials::acos),
    function(Op::Atan, "atan", 1, kFunctionRounding, values<std::atan>, partials::atan),
    function(Op::Sinh, "sinh", 1, kFunctionRounding, values<std::sinh>, partials::sinh),
    function(Op::Cosh, "cosh", 1, kFunctionRounding, values<std::cosh>, partials::cosh),
    function(Op::Tanh, "tanh", 1, kFunctionRounding, values<std::tanh>, partials::tanh),
    function(Op::Asinh, "asinh", 1, kFunctionRounding, values<std::asinh>, partials::asinh),
    function(Op::Acosh, "acosh", 1, kFunctionRounding, values<std::acosh>, partials::acosh),
    function(Op::Atanh, "atanh", 1, kFunctionRounding, values<std::atanh>, partials::atanh),
    function(Op::Erf, "erf", 1, kFunctionRounding, values<std::erf>, partials::erf),
    function(Op::Erfc, "erfc", 1, kFunctionRounding, values<std::erfc>, partials::erfc),
    function(Op::Lgamma, "lgamma", 1, kGammaRounding, values<log_gamma>),
    function(Op::Tgamma, "tgamma", 1, kGammaRounding, values<std::tgamma>),
    oscillating(bessel_function(Op::BesselJ0, "bessel_j0", values<bessel_j0>, partials::bessel_j0)),
    oscillating(bessel_function(Op::BesselJ1, "bessel_j1", values<bessel_j1>, partials::bessel_j1)),
    bessel_function(Op::BesselK0, "bessel_k0", values<bessel_k0>, partials::bessel_k0),
    bessel_function(Op::BesselK1, "bessel_k1", values<bessel_k1>, partials::bessel_k1),
    bessel_function(Op::BesselI0, "bessel_i0", values<bessel_i0>, partials::bessel_i0),
    bessel_function(Op::BesselI1, "bessel_i1", values<bessel_i1>, partials::bessel_i1),
    {.op = Op::Floor, .name = "floor", .arity = 1, .typing = Real, .is_function = true, .values = values<std::floor>,
     .partial = partials::none},
    {.op = Op::Ceil, .name = "ceil", .arity = 1, .typing = Real, .is_function = true, .values = values<std::ceil>,
     .partial = partials::none},
    {.op = Op::Round, .name = "round", .arity = 1, .typing = Real, .is_function = true, .values = values<std::round>,
     .partial = partials::none},
    {.op = Op::Rint, .name = "rint", .arity = 1, .typing = Real, .values = values<std::nearbyint>,
     .partial = partials::none},
    {.op = Op::Trunc, .name = "trunc", .arity = 1, .typing = Real, .is_function = true, .values = values<std::trunc>,
     .partial = partials::none},
    {.op = Op::Not, .name = "not", .arity = 1, .typing = Logic, .cost = 0,
     .values = values<[](double a) { return double(a == 0); }>},
    // The value of a cast depends on two types: convert().
    {.op = Op::Cast, .name = "cast", .arity = 1, .typing = Conversion, .cost = 0, .rounding = {1},
     .partial = partials::cast},
    {.op = Op::RsqrtEstimate, .name = "rsqrt_estimate", .arity = 1, .typing = Real, .rounding = kFunctionRounding,
     .values = values<inverse_root>},
    {.op = Op::SumOfElements, .name = "sum_of_elements", .arity = 1, .typing = Number},
    {.op = Op::MinOfElements, .name = "min_of_elements", .arity = 1, .typing = Number},
    {.op = Op::MaxOfElements, .name = "max_of_elements", .arity = 1, .typing = Number},

    {.op = Op::Add, .name = "add", .arity = 2, .typing = Number, .commutes = true, .rounding = {1},
     .values = values<[](double a, double b) { return a + b; }>,
     .integer_values = integer_values<[](Int64 a, Int64 b) { return Bits(a) + Bits(b); }>, .partial = partials::add},
    {.op = Op::Sub, .name = "sub", .arity = 2, .typing = Number, .rounding = {1},
     .values = values<[](double a, double b) { return a - b; }>,
     .integer_values = integer_values<[](Int64 a, Int64 b) { return Bits(a) - Bits(b); }>, .partial = partials::sub},
    {.op = Op::Mul, .name = "mul", .arity = 2, .typing = Number, .commutes = true, .rounding = {2},
     .values = values<[](double a, double b) { return a * b; }>,
     .integer_values = integer_values<[](Int64 a, Int64 b) { return Bits(a) * Bits(b); }>, .partial = partials::mul},
    {.op = Op::Div, .name = "div", .arity = 2, .typing = Number, .is_function = true, .rounding = kQuotientRounding,
     .values = values<[](double a, double b) { return a / b; }>, .integer_values = integer_values<quotient>,
     .partial = partials::div},
    {.op = Op::Rem, .name = "rem", .arity = 2, .typing = Integer, .is_function = true,
     .integer_values = integer_values<remainder_of>},
    // Min and Max commute, except for which of two NaNs they return; nothing depends on that.
    {.op = Op::Min, .name = "min", .arity = 2, .typing = Number, .commutes = true, .values = values<smaller>},
    {.op = Op::Max, .name = "max", .arity = 2, .typing = Number, .commutes = true, .values = values<larger>},
    function(Op::Pow, "pow", 2, {.epsilons = 16, .estimates = 16}, values<std::pow>, partials::pow),
    function(Op::Atan2, "atan2", 2, kFunctionRounding, values<std::atan2>, partials::atan2),
    function(Op::Hypot, "hypot", 2, kFunctionRounding, values<[](double a, double b) { return std::hypot(a, b); }>,
             partials::hypot),
    function(Op::Fmod, "fmod", 2, {}, values<std::fmod>, partials::fmod),
    {.op = Op::CopySign, .name = "copysign", .arity = 2, .typing = Real, .is_function = true,
     .values = values<std::copysign>, .partial = partials::copysign},
    {.op = Op::BitAnd, .name = "bit_and", .arity = 2, .typing = Integer, .commutes = true,
     .integer_values = integer_values<[](Int64 a, Int64 b) { return Bits(a & b); }>},
    {.op = Op::BitOr, .name = "bit_or", .arity = 2, .typing = Integer, .commutes = true,
     .integer_values = integer_values<[](Int64 a, Int64 b) { return Bits(a | b); }>},
    {.op = Op::BitXor, .name = "bit_xor", .arity = 2, .typing = Integer, .commutes = true,
     .integer_values = integer_values<[](Int64 a, Int64 b) { return Bits(a ^ b); }>},
    {.op = Op::Shl, .name = "shl", .arity = 2, .typing = Integer,
     .integer_values = integer_values<[](Int64 a, Int64 b) { return Bits(a) << (b & 63); }>},
    {.op = Op::Shr, .name = "shr", .arity = 2, .typing = Integer,
     .integer_values = integer_values<[](Int64 a, Int64 b) { return Bits(a >> (b & 63)); }>},
    {.op = Op::And, .name = "and", .arity = 2, .typing = Logic, .cost = 0, .commutes = true,
     .values = values<[](double a, double b) { return double(a != 0 && b != 0); }>},
    {.op = Op::Or, .name = "or", .arity = 2, .typing = Logic, .cost = 0, .commutes = true,
     .values = values<[](double a, double b) { return double(a != 0 || b != 0); }>},
    // The table is no argument; it is the reason for the Param binding.
    {.op = Op::Lookup, .name = "lookup", .arity = 2, .typing = Element, .binding = Binding::Param, .rounding = {1}},
    {.op = Op::Lt, .name = "lt", .arity = 2, .typing = Comparison, .cost = 0,
     .values = values<[](double a, double b) { return double(a < b); }>},
    {.op = Op::Le, .name = "le", .arity = 2, .typing = Comparison, .cost = 0,
     .values = values<[](double a, double b) { return double(a <= b); }>},
    {.op = Op::Eq, .name = "eq", .arity = 2, .typing = Comparison, .cost = 0, .commutes = true,
     .values = values<[](double a, double b) { return double(a == b); }>},

    {.op = Op::Fma, .name = "fma", .arity = 3, .typing = Real, .cost = 2, .commutes = true, .rounding = {1},
     .values = values<std::fma>, .partial = partials::fma},
    {.op = Op::Philox, .name = "philox", .arity = 3, .typing = Integer, .cost = 60, .is_function = true,
     .values = values<random_bits>},
    {.op = Op::Select, .name = "select", .arity = 3, .typing = Choice, .cost = 0,
     .values = values<[](double a, double b, double c) { return a != 0 ? b : c; }>},

    {.op = Op::Vector, .name = "vector", .arity = 3, .typing = OfVectors, .cost = 0, .values = vectors_of},
    {.op = Op::Cell, .name = "cell", .arity = 3, .typing = OfVectors, .cost = 0, .values = cells_of},
    // Cost: three dot products, three roundings, three subtractions of multiples; the other steps are rare.
    {.op = Op::Image, .name = "image", .arity = 2, .typing = OfVectors, .cost = 36, .is_function = true,
     .values = minimum_images},
    // The interpreter knows the image; kernels have another pipeline (passes/derived/every_image.h).
    {.op = Op::EveryImage, .name = "every_image", .arity = 2, .typing = OfVectors, .binding = Binding::Pair, .cost = 0},
    {.op = Op::X, .name = "x", .arity = 1, .typing = OfVectors, .cost = 0, .values = component_of<0>},
    {.op = Op::Y, .name = "y", .arity = 1, .typing = OfVectors, .cost = 0, .values = component_of<1>},
    {.op = Op::Z, .name = "z", .arity = 1, .typing = OfVectors, .cost = 0, .values = component_of<2>},
}};
// clang-format on

constexpr bool rows_are_in_order_of_op() {
  for (int op = 0; op < kOpCount; ++op)
    if (kOps[std::size_t(op)].op != Op(op)) return false;
  return true;
}
static_assert(rows_are_in_order_of_op());

}  // namespace

const OpFacts& facts(Op op) { return kOps[std::size_t(op)]; }

void evaluate(Op op, Type type, Type argument, const Columns& args, double* out, int count,
              std::span<const double> table) {
  const OpFacts& of = facts(op);
  if (op == Op::Lookup) {
    for (int k = 0; k < count; ++k)
      out[k] = table[std::size_t(std::clamp(args[0][k] + args[1][k], 0.0, double(table.size() - 1)))];
    return;
  }
  if (op == Op::Cast)
    for (int k = 0; k < count; ++k) out[k] = convert(args[0][k], type, argument);
  else if (is_integral(type) && of.integer_values != nullptr)
    of.integer_values(args, type, out, count);
  else
    of.values(args, out, count);
}

}  // namespace nbcc
