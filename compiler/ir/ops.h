// The operations of the IR and the meaning of each, in one table: what printing, verification, folding, the interpreter
// and the error analysis read. How a kernel spells an operation, each backend has in a table of its own
// (emit/cpu/cpu_spelling.h, emit/cuda/cuda_spelling.h). A `case Op::` elsewhere is a rule about the shape of a graph
// (which products are powers, what a - (-b) is), or about a leaf, whose value comes from outside.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compiler/field.h"

namespace nbcc {

// Vector: three reals; Cell: three Vectors, those of a periodic cell. All others are single numbers.
enum class Type : std::uint8_t { Cell, Vector, Bool, Int, Index, Float, Real, Double };
constexpr int numbers_in(Type type) { return type == Type::Cell ? 9 : type == Type::Vector ? 3 : 1; }
constexpr bool is_floating(Type type) { return type >= Type::Float; }
constexpr bool is_integral(Type type) { return type == Type::Int || type == Type::Index; }

// What a value depends on. A join of two bindings is the bitwise or of the numbers; Constant < Param < I, J < Pair.
enum class Binding : std::uint8_t { Constant = 0, Param = 1, I = 3, J = 5, Pair = 7 };
constexpr Binding join(Binding a, Binding b) { return Binding(std::uint8_t(a) | std::uint8_t(b)); }

enum class Op : std::uint8_t {
  // leaves; Node::payload names the constant's bits or the component number
  Const,   // payload: the double's bits (all types; Int and Index constants are exact to 2^53, and 2^63 is one less)
  Param,   // payload: component among all params
  InputI,  // payload: component among all i inputs
  InputJ,  // payload: component among all j inputs
  IIndex,  // the i-particle's index in the caller's set plus the caller's offset
  JIndex,
  InputPair,  // payload: component among all inputs of listed pairs
  Output,     // payload: output component; in `finish` only. Of its result_type().
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
  Round,  // halves away from zero
  Rint,   // halves to the even neighbour
  Trunc,
  Not,
  Cast,           // to the node's type; real to int truncates
  RsqrtEstimate,  // the target's estimate of 1/sqrt(x); appears after `rsqrt` has refined for a target
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
  Shr,  // a >> b likewise; the sign is kept
  And,
  Or,
  Lookup,  // the element row + column of a table, the payload's among the pipeline's; both stay within it
  Lt,
  Le,
  Eq,
  // three arguments
  Fma,     // a*b + c with one rounding (where the target has it)
  Philox,  // 32 random bits from three indices: the first word of Philox4x32-10
  Select,  // a ? b : c
  // of vectors
  Vector,  // of three reals
  Cell,    // of three lattice vectors, the same for all pairs
  Image,   // of a vector and a cell: the shortest copy of the vector, which whole multiples of the lattice's make of it
  X,       // of a vector
  Y,
  Z,
};
inline constexpr int kOpCount = int(Op::Z) + 1;

// Which types an operation takes and gives.
enum class Typing : std::uint8_t {
  Leaf,        // its field's, or index
  Real,        // floating point numbers of one type
  Number,      // numbers of one type
  Whole,       // whole numbers of one type
  Logic,       // bools
  Comparison,  // two of one type give a bool
  Choice,      // a bool and two of one type
  Element,     // two ints, the table's type
  Conversion,  // any type becomes any other
  OfVectors,   // as the operations of vectors say
};

// How wrong a result may be, in epsilons of its type and in errors of the target's bare estimate of a root. Fast math
// may multiply in another order and replace quotients and powers by products of reciprocal roots, which are good to
// 2 ulp; vectorised functions are good to 4.
struct Rounding {
  double epsilons = 0, estimates = 0;
};

using Columns = std::array<const double*, 3>;
using NodeId = std::int32_t;
inline constexpr NodeId kNone = -1;

// What derivatives are made with: nodes of the type that the operation has.
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
  std::string_view name;  // as the printer writes it, and the language where it has the function
  int arity = 0;
  Typing typing = Typing::Leaf;
  Binding binding = Binding::Constant;  // which a node's joins those of its arguments with
  std::optional<Role> role = {};        // of a leaf that reads a component
  int cost = 1;                         // in operations per interaction, as they are counted
  bool commutes = false;                // the first two arguments do
  bool is_function = false;             // takes several instructions
  Rounding rounding = {};
  bool is_bessel = false;  // nbcc has its own code of it, templates/bessel.h.in
  // What its epsilons are in proportion to, by argument and result; null: to the result.
  double (*error_scale)(double x, double result) = nullptr;
  // What it computes in double: out[k] of args[.][k]. Whole numbers wrap at their type's width; null: as doubles do.
  void (*values)(const Columns& args, double* out, int count) = nullptr;
  void (*whole_values)(const Columns& args, Type type, double* out, int count) = nullptr;
  // The partial derivative by argument k, kNone where it is 0 (partials.cpp). Null: there is none, or it is no number
  // (Select, Min and Max choose; compiler/passes/derivative.h).
  NodeId (*partial)(Arithmetic& with, const OpNodes& nodes, int k) = nullptr;
};

// The partial derivatives that the table points to (partials.cpp).
namespace partials {
using Partial = NodeId(Arithmetic& with, const OpNodes& nodes, int argument);

// Constant wherever it is defined: rounding.
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

// out[k] = op(args[0][k], args[1][k], args[2][k]) for k in [0, count), in double: what the interpreter and constant
// folding share. `type` is the node's, `argument` that of its first argument; `op` is no leaf.
// A Vector's numbers stand one behind the other, and so do a Cell's.
// Bool is 0 or 1. Int wraps at 32 bits and Index at 64; an Index beyond 2^53 is not represented exactly. A quotient or
// remainder by integer zero is 0, a cast to an integer type saturates and makes 0 of NaN. Float and Real are not
// rounded.
// `table` has the elements of a Lookup; rows and columns that lead out of it find its ends.
void evaluate(Op op, Type type, Type argument, const Columns& args, double* out, int count,
              std::span<const double> table = {});

}  // namespace nbcc
