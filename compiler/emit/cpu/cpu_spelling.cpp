// The table of CPU spellings. Entry point: cpu_spellings().
#include "compiler/emit/cpu/cpu_spelling.h"

#include <array>
#include <cstddef>

namespace nbcc {
namespace {

constexpr std::string_view kExponentials = "cpu_exponentials.h", kAngles = "cpu_angles.h",
                           kErrorFunctions = "cpu_error_functions.h", kBessel = "cpu_bessel.h";

constexpr std::array<CpuSpelling, kOpCount> kSpellings{{
    {.op = Op::Const, .is_special = true},
    {.op = Op::Param, .is_special = true},
    {.op = Op::InputI, .is_special = true},
    {.op = Op::InputJ, .is_special = true},
    {.op = Op::IIndex, .is_special = true},
    {.op = Op::JIndex, .is_special = true},
    {.op = Op::ImageIndex, .is_special = true},
    {.op = Op::SelfPair, .is_special = true},
    {.op = Op::InputPair, .is_special = true},
    {.op = Op::Output, .is_special = true},
    {.op = Op::ElementOfI, .is_special = true},
    {.op = Op::ElementOfJ, .is_special = true},
    {.op = Op::ElementOfParam, .is_special = true},
    {.op = Op::Neg, .text = "-{a}"},
    {.op = Op::Abs, .text = "__builtin_elementwise_abs({a})"},
    {.op = Op::Sqrt, .text = "__builtin_elementwise_sqrt({a})"},
    {.op = Op::Rsqrt, .text = "({t})(1) / __builtin_elementwise_sqrt({a})"},
    {.op = Op::Cbrt, .text = "math::cbrt({a})", .functions = kExponentials},
    {.op = Op::Exp, .text = "math::exp({a})", .functions = kExponentials},
    {.op = Op::Exp2, .text = "math::exp2({a})", .functions = kExponentials},
    {.op = Op::Log, .text = "math::log({a})", .functions = kExponentials},
    {.op = Op::Log2, .text = "math::log2({a})", .functions = kExponentials},
    {.op = Op::Expm1, .text = "math::expm1({a})", .functions = kExponentials},
    {.op = Op::Log1p, .text = "math::log1p({a})", .functions = kExponentials},
    {.op = Op::Log10, .text = "math::log10({a})", .functions = kExponentials},
    {.op = Op::Sin, .text = "math::sin({a})", .functions = kAngles},
    {.op = Op::Cos, .text = "math::cos({a})", .functions = kAngles},
    {.op = Op::SinPi, .text = "math::sin_pi({a})", .functions = kAngles},
    {.op = Op::CosPi, .text = "math::cos_pi({a})", .functions = kAngles},
    {.op = Op::Tan, .text = "math::tan({a})", .functions = kAngles},
    {.op = Op::Asin, .text = "math::asin({a})", .functions = kAngles},
    {.op = Op::Acos, .text = "math::acos({a})", .functions = kAngles},
    {.op = Op::Atan, .text = "math::atan({a})", .functions = kAngles},
    {.op = Op::Sinh, .text = "math::sinh({a})", .functions = kExponentials},
    {.op = Op::Cosh, .text = "math::cosh({a})", .functions = kExponentials},
    {.op = Op::Tanh, .text = "math::tanh({a})", .functions = kExponentials},
    {.op = Op::Asinh, .text = "math::asinh({a})", .functions = kExponentials},
    {.op = Op::Acosh, .text = "math::acosh({a})", .functions = kExponentials},
    {.op = Op::Atanh, .text = "math::atanh({a})", .functions = kExponentials},
    {.op = Op::Erf, .text = "math::erf({a})", .functions = kErrorFunctions},
    {.op = Op::Erfc, .text = "math::erfc({a})", .functions = kErrorFunctions},
    {.op = Op::Lgamma, .libm = "lgamma"},
    {.op = Op::Tgamma, .libm = "tgamma"},
    {.op = Op::BesselJ0, .text = "bessel::j0({a})", .functions = kBessel},
    {.op = Op::BesselJ1, .text = "bessel::j1({a})", .functions = kBessel},
    {.op = Op::BesselK0, .text = "bessel::k0({a})", .functions = kBessel},
    {.op = Op::BesselK1, .text = "bessel::k1({a})", .functions = kBessel},
    {.op = Op::BesselI0, .text = "bessel::i0({a})", .functions = kBessel},
    {.op = Op::BesselI1, .text = "bessel::i1({a})", .functions = kBessel},
    {.op = Op::Floor, .text = "round_down({a})"},
    {.op = Op::Ceil, .text = "round_up({a})"},
    {.op = Op::Round, .text = "round_half_away({a})"},
    {.op = Op::Rint, .text = "round_to_even({a})"},
    {.op = Op::Trunc, .text = "round_to_zero({a})"},
    {.op = Op::Not, .text = "~{a}", .scalar = "!{a}"},
    {.op = Op::Cast, .is_special = true},
    {.op = Op::RsqrtEstimate, .text = "rsqrt_estimate({a})"},
    {.op = Op::SumOfElements, .is_special = true},
    {.op = Op::MinOfElements, .is_special = true},
    {.op = Op::MaxOfElements, .is_special = true},
    {.op = Op::Add, .text = "{a} + {b}"},
    {.op = Op::Sub, .text = "{a} - {b}"},
    {.op = Op::Mul, .text = "{a} * {b}"},
    {.op = Op::Div, .text = "{a} / {b}", .whole = "integer_quotient({a}, {b})"},
    {.op = Op::Rem, .text = "integer_remainder({a}, {b})"},
    {.op = Op::Min, .text = "minimum({a}, {b})"},
    {.op = Op::Max, .text = "maximum({a}, {b})"},
    {.op = Op::Pow, .text = "math::pow({a}, {b})", .functions = kExponentials},
    {.op = Op::Atan2, .text = "math::atan2({a}, {b})", .functions = kAngles},
    {.op = Op::Hypot, .text = "math::hypot({a}, {b})", .functions = kExponentials},
    {.op = Op::Fmod, .libm = "fmod"},
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
    {.op = Op::EveryImage, .is_special = true},
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
