// The description of a pipeline's field, which compiler and runtime share: its role, its shape, its reduction and the
// identity of that reduction. Plain data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

enum class Role : std::uint8_t { InputI, InputJ, Param, Output, InputPair };
constexpr int kRoles = 5;

enum class Reduction : std::uint8_t {
  Sum,
  Min,
  Max,
  ArgMin,
  ArgMax,
  LogSumExp,
  Softmax,
  Product,
  Count,
  At,         // payload of an argmin or argmax: a value of the chosen pair
  Histogram,  // a sum into the element that each pair names
  // Reductions of hidden accumulators only, by which kernels compute logsumexp and softmax (emit/accumulators.h):
  // Weighted is a sum of terms with the weights exp(logit - reference); Reference is that reference, a finite number
  // near the largest logit.
  Weighted,
  Reference
};
constexpr int kReductions = 10;  // number of reductions that an output may have
constexpr bool is_sum(Reduction r) { return r == Reduction::Sum || r == Reduction::Count; }
constexpr bool is_exponential(Reduction r) { return r == Reduction::LogSumExp || r == Reduction::Softmax; }
// True for the reductions of hidden accumulators, which no caller sees.
constexpr bool is_hidden(Reduction r) { return r >= Reduction::Weighted; }
// True for the reductions that a total may have. The others need more of each i than its result.
constexpr bool can_be_total(Reduction r) {
  return is_sum(r) || r == Reduction::Min || r == Reduction::Max || r == Reduction::Product ||
         r == Reduction::LogSumExp;
}
constexpr bool keeps_index(Reduction r) { return r == Reduction::ArgMin || r == Reduction::ArgMax; }
constexpr bool is_minimum(Reduction r) { return r == Reduction::Min || r == Reduction::ArgMin; }

// The result of a reduction of no terms. Integers have no infinity: their min and max begin at the limits of the type.
// A payload (At) without a chosen pair is NaN, or 0 for integers.
template <typename T>
constexpr T identity(Reduction r) {
  using Limits = std::numeric_limits<T>;
  if (is_sum(r) || r == Reduction::Weighted) return T(0);
  if (r == Reduction::Product) return T(1);
  if (r == Reduction::Reference) return Limits::lowest();
  if (r == Reduction::At) return Limits::has_quiet_NaN ? Limits::quiet_NaN() : T(0);
  if constexpr (Limits::has_infinity) return is_minimum(r) ? Limits::infinity() : -Limits::infinity();
  return is_minimum(r) ? Limits::max() : Limits::min();
}

// Types of values. Vector: three reals; Cell: the three lattice vectors of a periodic cell; both in graphs only. All
// others are single numbers.
enum class Type : std::uint8_t { Cell, Vector, Bool, Int, Index, Float, Real, Double };
constexpr int numbers_in(Type type) { return type == Type::Cell ? 9 : type == Type::Vector ? 3 : 1; }
constexpr bool is_floating(Type type) { return type >= Type::Float; }
constexpr bool is_integral(Type type) { return type == Type::Int || type == Type::Index; }
constexpr std::string_view name(Type type) {
  constexpr std::string_view names[] = {"cell", "vector", "bool", "int", "index", "float", "real", "double"};
  return names[std::size_t(type)];
}

// The rows of a field's array.
enum class FieldKind : std::uint8_t {
  Particle,     // one for each particle
  Pair,         // one for each listed pair
  Param,        // one, the same for all pairs
  Table,        // a param that is read at indices known only at run time
  Total,        // one for the run, reduced over i by the runtime
  Histogram,    // one for the run; each pair names the element to which it adds
  HistogramOfI  // a histogram for each i
};
constexpr FieldKind kind_of(Role role) {
  return role == Role::Param ? FieldKind::Param : role == Role::InputPair ? FieldKind::Pair : FieldKind::Particle;
}

// A number, a vector of `width` numbers, or an array of `length` of either.
struct FieldType {
  Type type = Type::Real;   // of its numbers
  int width = 1;            // 1: scalar; 2..4: vec2..vec4, or 2: a complex number
  bool is_complex = false;  // its components are the real and the imaginary part
  int length = 0;           // 0: not an array
  int columns = 0;          // of an array of arrays: elements per row; `length` counts all rows' elements
  FieldKind kind = FieldKind::Particle;
  int numbers() const { return width * (length == 0 ? 1 : length); }  // in a row of the caller's array
  bool integral() const { return type < Type::Float; }
  bool is_table() const { return kind == FieldKind::Table; }
  bool is_of_pair() const { return kind == FieldKind::Pair; }
  bool is_histogram() const { return kind == FieldKind::Histogram || kind == FieldKind::HistogramOfI; }
  bool is_total() const { return kind == FieldKind::Total || kind == FieldKind::Histogram; }
  bool operator==(const FieldType&) const = default;
};

// As declared: "real", "vec3", "int", "float[4]", ...
inline std::string type_name(const FieldType& type) {
  std::string text(type.is_complex ? "complex" : type.width > 1 ? "vec" + std::to_string(type.width) : name(type.type));
  if (type.columns > 0) text += '[' + std::to_string(type.length / type.columns) + ']';
  if (type.length > 0) text += '[' + std::to_string(type.columns > 0 ? type.columns : type.length) + ']';
  return text;
}

// A field as callers see it.
struct FieldLayout : FieldType {
  std::string name;
  Role role = Role::InputI;
  int first = 0;                         // index of its first component among all components of its role
  Reduction reduction = Reduction::Sum;  // of an output
  int terms = 0;                         // of a histogram: the statements that add to it, which are its components
  int follows = -1;                      // of an output(at): first component of its argmin or argmax
  std::vector<double> defaults;          // of a param: empty, or one value per component
  std::string comment;                   // the user's comment after the declaration
  bool is_pair_result() const { return role == Role::Output && is_of_pair(); }  // an output(pair)
  int components() const { return is_histogram() ? terms : numbers(); }
};

// An argmin or argmax that keeps several indices or has payloads. Output component first + m holds the j_index of the
// m-th best pair; m = 0 is the best, m < slots.
struct Choice {
  int first = 0, slots = 1;
  Reduction reduction = Reduction::ArgMin;
  // A payload (At): output component first + m * width + d is component d of the value of the m-th best pair.
  struct Payload {
    int first = 0, width = 1;
    bool operator==(const Payload&) const = default;
  };
  std::vector<Payload> payloads;
  bool least() const { return is_minimum(reduction); }
  int last() const { return first + slots - 1; }
  bool operator==(const Choice&) const = default;
};

// The choices among `fields` (any type derived from FieldLayout), in the order of the fields.
template <typename Fields>
std::vector<Choice> choices_of(const Fields& fields) {
  std::vector<Choice> choices;
  for (const FieldLayout& field : fields) {
    if (field.role != Role::Output || !keeps_index(field.reduction)) continue;
    Choice choice{field.first, field.components(), field.reduction, {}};
    for (const FieldLayout& other : fields)
      if (other.role == Role::Output && other.reduction == Reduction::At && other.follows == field.first)
        choice.payloads.push_back({other.first, other.width});
    if (choice.slots > 1 || !choice.payloads.empty()) choices.push_back(choice);
  }
  return choices;
}

// A param array that is read at indices known only at run time. Element k, counted through all rows, is component
// first + k * stride of all params.
struct Table {
  int first = 0, stride = 1, count = 0, columns = 0;
  int power = -1;  // 0..3: the coefficients of (x - k)^power of cubic splines (table.h); -1: the elements themselves
  bool operator==(const Table&) const = default;
};

}  // namespace nbcc
