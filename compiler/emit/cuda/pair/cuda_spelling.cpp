// The table of CUDA spellings. Entry point: cuda_spelling(). The functions are NVRTC's built-in mathematics, which
// needs no header, and functions of templates/cuda/frames/cuda_types.cuh.in.
#include "compiler/emit/cuda/pair/cuda_spelling.h"

#include <array>
#include <cstddef>

namespace nbcc {
namespace {

constexpr std::array<CudaSpelling, kOpCount> kSpellings{{
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
    {.op = Op::Neg, .text = "-{a}", .whole = "({t})(({u})0 - ({u}){a})"},
    {.op = Op::Abs, .text = "fabs{f}({a})", .whole = "{a} < 0 ? ({t})(({u})0 - ({u}){a}) : {a}"},
    {.op = Op::Sqrt, .text = "sqrt{f}({a})", .fast = "square_root({a})"},
    {.op = Op::Rsqrt, .text = "1.0{f} / sqrt{f}({a})"},
    {.op = Op::Cbrt, .text = "cbrt{f}({a})", .instructions = 12},
    {.op = Op::Exp, .text = "exp{f}({a})", .fast = "exp2_estimate({a} * 1.4426950408889634f)"},
    {.op = Op::Exp2, .text = "exp2{f}({a})", .fast = "exp2_estimate({a})"},
    {.op = Op::Log, .text = "log{f}({a})", .instructions = 22},
    {.op = Op::Log2, .text = "log2{f}({a})", .instructions = 22},
    {.op = Op::Expm1, .text = "expm1{f}({a})", .instructions = 24},
    {.op = Op::Log1p, .text = "log1p{f}({a})", .instructions = 26},
    {.op = Op::Log10, .text = "log10{f}({a})", .instructions = 24},
    {.op = Op::Sin, .text = "sin{f}({a})", .instructions = 40},
    {.op = Op::Cos, .text = "cos{f}({a})", .instructions = 40},
    {.op = Op::SinPi, .text = "sinpi{f}({a})", .instructions = 16},
    {.op = Op::CosPi, .text = "cospi{f}({a})", .instructions = 16},
    {.op = Op::Tan, .text = "tan{f}({a})", .instructions = 45},
    {.op = Op::Asin, .text = "asin{f}({a})", .instructions = 24},
    {.op = Op::Acos, .text = "acos{f}({a})", .instructions = 24},
    {.op = Op::Atan, .text = "atan{f}({a})", .instructions = 18},
    {.op = Op::Sinh, .text = "sinh{f}({a})", .instructions = 24},
    {.op = Op::Cosh, .text = "cosh{f}({a})", .instructions = 16},
    {.op = Op::Tanh, .text = "tanh{f}({a})", .instructions = 18},
    {.op = Op::Asinh, .text = "asinh{f}({a})", .instructions = 36},
    {.op = Op::Acosh, .text = "acosh{f}({a})", .instructions = 36},
    {.op = Op::Atanh, .text = "atanh{f}({a})", .instructions = 30},
    {.op = Op::Erf, .text = "erf{f}({a})", .instructions = 26},
    {.op = Op::Erfc, .text = "erfc{f}({a})", .instructions = 44},
    {.op = Op::Lgamma, .text = "lgamma{f}({a})", .instructions = 120},
    {.op = Op::Tgamma, .text = "tgamma{f}({a})", .instructions = 100},
    {.op = Op::BesselJ0, .text = "bessel::j0({a})", .instructions = 60},
    {.op = Op::BesselJ1, .text = "bessel::j1({a})", .instructions = 60},
    {.op = Op::BesselK0, .text = "bessel::k0({a})", .instructions = 60},
    {.op = Op::BesselK1, .text = "bessel::k1({a})", .instructions = 60},
    {.op = Op::BesselI0, .text = "bessel::i0({a})", .instructions = 60},
    {.op = Op::BesselI1, .text = "bessel::i1({a})", .instructions = 60},
    {.op = Op::Floor, .text = "floor{f}({a})"},
    {.op = Op::Ceil, .text = "ceil{f}({a})"},
    {.op = Op::Round, .text = "round{f}({a})"},
    {.op = Op::Rint, .text = "rint{f}({a})"},
    {.op = Op::Trunc, .text = "trunc{f}({a})"},
    {.op = Op::Not, .text = "!{a}"},
    {.op = Op::Cast, .is_special = true},
    {.op = Op::RsqrtEstimate, .text = "rsqrt_estimate({a})"},
    {.op = Op::SumOfElements, .is_special = true},
    {.op = Op::MinOfElements, .is_special = true},
    {.op = Op::MaxOfElements, .is_special = true},
    {.op = Op::Add, .text = "{a} + {b}", .whole = "({t})(({u}){a} + ({u}){b})"},
    {.op = Op::Sub, .text = "{a} - {b}", .whole = "({t})(({u}){a} - ({u}){b})"},
    {.op = Op::Mul, .text = "{a} * {b}", .whole = "({t})(({u}){a} * ({u}){b})"},
    {.op = Op::Div, .text = "{a} / {b}", .whole = "integer_quotient({a}, {b})", .fast = "quotient({a}, {b})"},
    {.op = Op::Rem, .text = "integer_remainder({a}, {b})"},
    {.op = Op::Min, .text = "minimum({a}, {b})"},
    {.op = Op::Max, .text = "maximum({a}, {b})"},
    {.op = Op::Pow, .text = "pow{f}({a}, {b})", .instructions = 60},
    {.op = Op::Atan2, .text = "atan2{f}({a}, {b})", .instructions = 40},
    {.op = Op::Hypot, .text = "hypot{f}({a}, {b})", .instructions = 16},
    {.op = Op::Fmod, .text = "fmod{f}({a}, {b})", .instructions = 40},
    {.op = Op::CopySign, .text = "copysign{f}({a}, {b})"},
    {.op = Op::BitAnd, .text = "{a} & {b}"},
    {.op = Op::BitOr, .text = "{a} | {b}"},
    {.op = Op::BitXor, .text = "{a} ^ {b}"},
    {.op = Op::Shl, .text = "({t})(({u}){a} << {b})"},
    {.op = Op::Shr, .text = "{a} >> {b}"},
    {.op = Op::And, .text = "{a} && {b}"},
    {.op = Op::Or, .text = "{a} || {b}"},
    {.op = Op::Lookup, .is_special = true},
    {.op = Op::Lt, .text = "{a} < {b}"},
    {.op = Op::Le, .text = "{a} <= {b}"},
    {.op = Op::Eq, .text = "{a} == {b}"},
    {.op = Op::Fma, .text = "fma{f}({a}, {b}, {c})"},
    {.op = Op::Philox, .text = "philox({a}, {b}, {c})", .instructions = 60},
    {.op = Op::Select, .text = "{a} ? {b} : {c}"},
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
    const CudaSpelling& row = kSpellings[k];
    if (row.op != Op(k) || (row.text.empty() && !row.is_special)) return false;
  }
  return true;
}
static_assert(is_complete());

}  // namespace

const CudaSpelling& cuda_spelling(Op op) { return kSpellings[std::size_t(op)]; }

}  // namespace nbcc
