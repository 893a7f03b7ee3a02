// The table of CPU spellings. Entry point: cpu_spellings().
#include "compiler/emit/cpu/cpu_spelling.h"

#include <array>
#include <cstddef>

namespace nbcc {
namespace {

constexpr std::array<CpuSpelling, kOpCount> kSpellings{{
    {.op = Op::Const, .is_special = true},
    {.op = Op::Param, .is_special = true},
    {.op = Op::InputI, .is_special = true},
    {.op = Op::InputJ, .is_special = true},
    {.op = Op::IIndex, .is_special = true},
    {.op = Op::JIndex, .is_special = true},
    {.op = Op::InputPair, .is_special = true},
    {.op = Op::Output, .is_special = true},
    {.op = Op::Neg, .text = "-{a}"},
    {.op = Op::Abs, .text = "__builtin_elementwise_abs({a})"},
    {.op = Op::Sqrt, .text = "__builtin_elementwise_sqrt({a})"},
    {.op = Op::Rsqrt, .text = "({t})(1) / __builtin_elementwise_sqrt({a})"},
    {.op = Op::Cbrt, .libm = "cbrt"},
    {.op = Op::Exp, .libm = "exp"},
    {.op = Op::Exp2, .libm = "exp2"},
    {.op = Op::Log, .libm = "log"},
    {.op = Op::Log2, .libm = "log2"},
    {.op = Op::Expm1, .libm = "expm1"},
    {.op = Op::Log1p, .libm = "log1p"},
    {.op = Op::Log10, .libm = "log10"},
    {.op = Op::Sin, .libm = "sin"},
    {.op = Op::Cos, .libm = "cos"},
    {.op = Op::SinPi, .text = "sin_pi({a})", .libm = "sin"},
    {.op = Op::CosPi, .text = "cos_pi({a})", .libm = "sin"},
    {.op = Op::Tan, .libm = "tan"},
    {.op = Op::Asin, .libm = "asin"},
    {.op = Op::Acos, .libm = "acos"},
    {.op = Op::Atan, .libm = "atan"},
    {.op = Op::Sinh, .libm = "sinh"},
    {.op = Op::Cosh, .libm = "cosh"},
    {.op = Op::Tanh, .libm = "tanh"},
    {.op = Op::Asinh, .libm = "asinh"},
    {.op = Op::Acosh, .libm = "acosh"},
    {.op = Op::Atanh, .libm = "atanh"},
    {.op = Op::Erf, .libm = "erf"},
    {.op = Op::Erfc, .libm = "erfc"},
    {.op = Op::Lgamma, .libm = "lgamma", .has_vectors = false},
    {.op = Op::Tgamma, .libm = "tgamma", .has_vectors = false},
    {.op = Op::BesselJ0, .text = "bessel::j0({a})", .scalar = "bessel::j0((double)({a}))"},
    {.op = Op::BesselJ1, .text = "bessel::j1({a})", .scalar = "bessel::j1((double)({a}))"},
    {.op = Op::BesselK0, .text = "bessel::k0({a})", .scalar = "bessel::k0((double)({a}))"},
    {.op = Op::BesselK1, .text = "bessel::k1({a})", .scalar = "bessel::k1((double)({a}))"},
    {.op = Op::BesselI0, .text = "bessel::i0({a})", .scalar = "bessel::i0((double)({a}))"},
    {.op = Op::BesselI1, .text = "bessel::i1({a})", .scalar = "bessel::i1((double)({a}))"},
    {.op = Op::Floor, .text = "round_down({a})"},
    {.op = Op::Ceil, .text = "round_up({a})"},
    {.op = Op::Round, .text = "round_half_away({a})"},
    {.op = Op::Rint, .text = "round_to_even({a})"},
    {.op = Op::Trunc, .text = "round_to_zero({a})"},
    {.op = Op::Not, .text = "~{a}", .scalar = "!{a}"},
    {.op = Op::Cast, .is_special = true},
    {.op = Op::RsqrtEstimate, .text = "rsqrt_estimate({a})"},
    {.op = Op::Add, .text = "{a} + {b}"},
    {.op = Op::Sub, .text = "{a} - {b}"},
    {.op = Op::Mul, .text = "{a} * {b}"},
    {.op = Op::Div, .text = "{a} / {b}", .whole = "integer_quotient({a}, {b})"},
    {.op = Op::Rem, .text = "integer_remainder({a}, {b})"},
    {.op = Op::Min, .text = "minimum({a}, {b})"},
    {.op = Op::Max, .text = "maximum({a}, {b})"},
    {.op = Op::Pow, .libm = "pow"},
    {.op = Op::Atan2, .libm = "atan2"},
    {.op = Op::Hypot, .libm = "hypot"},
    {.op = Op::Fmod, .libm = "fmod", .has_vectors = false},
    {.op = Op::CopySign, .text = "with_sign({a}, {b})"},
    {.op = Op::BitAnd, .text = "{a} & {b}"},
    {.op = Op::BitOr, .text = "{a} | {b}"},
    {.op = Op::BitXor, .text = "{a} ^ {b}"},
    {.op = Op::Shl, .text = "{a} << {b}"},
    {.op = Op::Shr, .text = "{a} >> {b}"},
    {.op = Op::And, .text = "{a} & {b}"},
    {.op = Op::Or, .text = "{a} | {b}"},
    {.op = Op::Lookup, .is_special = true},
    {.op = Op::Lt, .text = "to_mask({a} < {b})", .scalar = "{a} < {b}"},
    {.op = Op::Le, .text = "to_mask({a} <= {b})", .scalar = "{a} <= {b}"},
    {.op = Op::Eq, .text = "to_mask({a} == {b})", .scalar = "{a} == {b}"},
    {.op = Op::Fma, .text = "fused({a}, {b}, {c})"},
    {.op = Op::Philox, .text = "philox({a}, {b}, {c})"},
    {.op = Op::Select, .text = "choose({a}, {b}, {c})"},
    {.op = Op::Vector, .text = "{{{a}, {b}, {c}}}"},
    {.op = Op::Cell, .text = "cell_of({a}, {b}, {c})"},
    {.op = Op::Image, .text = "image({a}, {b})"},
    {.op = Op::X, .text = "{a}.x"},
    {.op = Op::Y, .text = "{a}.y"},
    {.op = Op::Z, .text = "{a}.z"},
}};

// An operation without a row, or a row without a spelling, is a compile error.
constexpr bool is_complete() {
  for (std::size_t k = 0; k < kSpellings.size(); ++k) {
    const CpuSpelling& row = kSpellings[k];
    if (row.op != Op(k) || (row.text.empty() && row.libm.empty() && !row.is_special)) return false;
  }
  return true;
}
static_assert(is_complete());

}  // namespace

std::span<const CpuSpelling> cpu_spellings() { return kSpellings; }

}  // namespace nbcc
