// The operations of the IR and their semantics, in one table, which printing, verification, folding, the interpreter
// and the error analysis read. Each backend has another table with the kernel code of each operation
// (emit/cpu/cpu_spelling.h, emit/cuda/pair/cuda_spelling.h). A `case Op::` elsewhere is a rule about the structure of a
// graph (which products are powers, what a - (-b) is) or about leaves.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compiler/field.h"

namespace nbcc {

// The dependence of a value. The join of two bindings is their bitwise or; Constant < Param < I, J < Pair.
enum class Binding : std::uint8_t { Constant = 0, Param = 1, I = 3, J = 5, Pair = 7 };
constexpr Binding join(Binding a, Binding b) { return Binding(std::uint8_t(a) | std::uint8_t(b)); }

enum class Op : std::uint8_t {
  // leaves; Node::payload is the constant's bits or the component's index
  Const,   // payload: the double's bits (all types; Int and Index constants are exact to 2^53, and 2^63 is one less)
  Param,   // payload: component among all params
  InputI,  // payload: component among all i inputs
  InputJ,  // payload: component among all j inputs
  IIndex,  // the i-particle's index in the caller's arrays plus the caller's offset
  JIndex,
  ImageIndex,  // payload: periodic vector k from 0 to 2; how many of it the image of j is moved by
  SelfPair,    // true for the pair of a particle with itself, its images excluded
  InputPair,   // payload: component among all inputs of listed pairs
  Output,      // payload: output component; in `finish` only; its type is result_type()
  // In the terms of loops over the elements of arrays (passes/optimize/element_loops.h), where k counts the elements;
  // payload:
  // the component of element 0. The value is component payload + k.
  ElementOfI,
  ElementOfJ,
  ElementOfParam,
  // one argument
  Neg,
  Abs,
  Sqrt,
  Rsqrt,
  Cbrt,
  Exp,
  Exp2,
  Log,
  Log2,
  Expm1,
  Log1p,
  Log10,
  Sin,
  Cos,
  SinPi,
  CosPi,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Erfc,
  Lgamma,
  Tgamma,
  BesselJ0,
  BesselJ1,
  BesselK0,
  BesselK1,
  BesselI0,
  BesselI1,
  Floor,
  Ceil,
  Round,  // rounds halves away from zero
  Rint,   // rounds halves to even
  Trunc,
  Not,
  Cast,           // to the node's type; real to int truncates
  RsqrtEstimate,  // the target's estimate of 1/sqrt(x); made by the pass `rsqrt`
  // A loop over elements, whose argument is the term; payload: loop_payload() of the elements. Made by element_loops.
  SumOfElements,
  MinOfElements,
  MaxOfElements,
  // two arguments
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Min,
  Max,
  Pow,
  Atan2,
  Hypot,
  Fmod,
  CopySign,
  BitAnd,
  BitOr,
  BitXor,
  Shl,  // a << b with b from 0 to one less than the width
  Shr,  // arithmetic shift a >> b, same range of b
  And,
  Or,
  Lookup,  // element row + column of table number `payload`; both arguments are within the table
  Lt,
  Le,
  Eq,
  // three arguments
  Fma,     // a*b + c with one rounding (where the target has it)
  Philox,  // 32 random bits from three indices: the first word of Philox4x32-10
  Select,  // a ? b : c
  // vectors
  Vector,      // of three reals
  Cell,        // of three lattice vectors, the same for all pairs
  Image,       // of a vector and a cell: the minimum image, a shortest of vector + integer combinations of the lattice
  EveryImage,  // of a vector and a cell: the vector of j - i plus ImageIndex(k) times the lattice vector k
  X,           // component of a vector
  Y,
  Z,
};
inline constexpr int kOpCount = int(Op::Z) + 1;

// The elements [first, first + count) of a loop.
struct Elements {
  std::int64_t first = 0, count = 0;
  bool operator==(const Elements&) const = default;
};
constexpr std::int64_t loop_payload(Elements elements) { return elements.first << 32 | elements.count; }
constexpr Elements elements_of(std::int64_t payload) { return {payload >> 32, payload & 0xffffffff}; }
constexpr bool is_element(Op op) { return op >= Op::ElementOfI && op <= Op::ElementOfParam; }
constexpr bool is_loop(Op op) { return op >= Op::SumOfElements && op <= Op::MaxOfElements; }

// The types of an operation's arguments and of its result.
enum class Typing : std::uint8_t {
  Leaf,        // the type of its field, or index
  Real,        // one floating point type
  Number,      // one numeric type
  Integer,     // one integer type
  Logic,       // bools
  Comparison,  // two of one type -> bool
  Choice,      // a bool and two of one type -> that type
  Element,     // two ints -> the table's type
  Conversion,  // any type -> any other
  OfVectors,   // as described at the vector operations
};

// The error bound of an operation: `epsilons` of its type plus `estimates` times the error of the target's rsqrt
// estimate. It allows for fast math, which reorders products and replaces quotients and powers by products of
// reciprocal roots with errors up to 2 ulp, and for vectorised functions, with errors up to 4 ulp.
struct Rounding {
  double epsilons = 0, estimates = 0;
};

using Columns = std::array<const double*, 3>;
using NodeId = std::int32_t;
inline constexpr NodeId kNone = -1;

// Builds the nodes of a derivative. All have the type of the differentiated operation.
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;
  virtual NodeId number(double value) = 0;
  virtual NodeId make(Op op, NodeId a, NodeId b = kNone) = 0;
  virtual NodeId select(NodeId condition, NodeId yes, NodeId no) = 0;
};
// A node y = op(a, b, c).
struct OpNodes {
  NodeId y = kNone;
  std::array<NodeId, 3> args{kNone, kNone, kNone};
};

struct OpFacts {
  Op op;
  std::string_view name;  // in printed graphs, and in the language if it has this function
  int arity = 0;
  Typing typing = Typing::Leaf;
  Binding binding = Binding::Constant;  // joined with the arguments' bindings
  std::optional<Role> role = {};        // of a leaf that reads a component
  int cost = 1;                         // contribution to the operation count of an interaction
  bool commutes = false;                // the first two arguments commute
  bool is_function = false;             // several instructions
  Rounding rounding = {};
  bool is_bessel = false;  // its kernel code is nbcc's own, templates/math/bessel.h.in
  // The magnitude that `rounding` is relative to, from argument and result; null: the result.
  double (*error_scale)(double x, double result) = nullptr;
  // Evaluation in double: out[k] from args[.][k]. integer_values wraps at the type's width; null: `values` is used.
  void (*values)(const Columns& args, double* out, int count) = nullptr;
  void (*integer_values)(const Columns& args, Type type, double* out, int count) = nullptr;
  // The partial derivative with respect to argument k; it returns kNone for 0 (partials.cpp). Null: not differentiable,
  // or treated by compiler/passes/derive/derivative.h (Select, Min and Max).
  NodeId (*partial)(Arithmetic& with, const OpNodes& nodes, int k) = nullptr;
};

// The partial derivatives that the table points to (partials.cpp).
namespace partials {
using Partial = NodeId(Arithmetic& with, const OpNodes& nodes, int argument);

// The derivative 0, of rounding functions.
Partial none;
Partial neg, abs, sqrt, rsqrt, cbrt, exp, exp2, log, log2, expm1, log1p, log10;
Partial sin, cos, sinpi, cospi, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, erf, erfc;
Partial bessel_j0, bessel_j1, bessel_k0, bessel_k1, bessel_i0, bessel_i1;
Partial cast, add, sub, mul, div, pow, atan2, hypot, fmod, copysign, fma;
}  // namespace partials

const OpFacts& facts(Op op);
inline std::string_view name(Op op) { return facts(op).name; }
inline int arity(Op op) { return facts(op).arity; }
inline bool gives_bool(Op op) { return facts(op).typing == Typing::Logic || facts(op).typing == Typing::Comparison; }

// out[k] = op(args[0][k], args[1][k], args[2][k]) for k in [0, count), in double, for the interpreter and constant
// folding. `type` is the node's type, `argument` the type of its first argument; `op` is no leaf.
// A Vector is 3 consecutive doubles, a Cell 9.
// Bool is 0 or 1. Int wraps at 32 bits and Index at 64; an Index beyond 2^53 is not represented exactly. A quotient or
// remainder by integer zero is 0; a cast to an integer type saturates and converts NaN to 0. Float and Real are not
// rounded.
// `table` has the elements of a Lookup; the sum row + column is clamped to the table.
void evaluate(Op op, Type type, Type argument, const Columns& args, double* out, int count,
              std::span<const double> table = {});

}  // namespace nbcc
