// What a field of a pipeline is, to the compiler and to the runtime alike: its role, its shape, and its reduction with
// what that holds before anything is added. Plain data.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
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
  At,  // what goes along with the pair that an argmin or argmax has chosen
  // Of accumulators alone, in which kernels hold logsumexp and softmax (emit/accumulators.h): a sum of terms with the
  // weights exp(logit - reference), and the reference, a finite number near the largest logit.
  Weighted,
  Reference
};
constexpr int kReductions = 10;  // that outputs may have
constexpr bool is_sum(Reduction r) { return r == Reduction::Sum || r == Reduction::Count; }
constexpr bool is_exponential(Reduction r) { return r == Reduction::LogSumExp || r == Reduction::Softmax; }
// Whether it is an accumulator's that no caller sees.
constexpr bool is_hidden(Reduction r) { return r >= Reduction::Weighted; }
constexpr bool keeps_index(Reduction r) { return r == Reduction::ArgMin || r == Reduction::ArgMax; }
constexpr bool is_minimum(Reduction r) { return r == Reduction::Min || r == Reduction::ArgMin; }

// Whole numbers have no infinity. What goes along with no choice is NaN, of whole numbers 0.
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

// Scalar, vector of `width`, or array of `length` of either.
struct FieldShape {
  std::string name;
  Role role = Role::InputI;
  int length = 0;                        // 0: not an array
  int columns = 0;                       // of an array of arrays: elements of a row; `length` counts those of all
  bool is_table = false;                 // a param that is read at indices known at run time only
  int width = 1;                         // 1: scalar; 2..4: vec2..vec4
  int first = 0;                         // its first component among all components of its role
  Reduction reduction = Reduction::Sum;  // of an output
  int follows = -1;                      // of an output(at): the first component of the output that chooses
  std::vector<double> defaults;          // of a param: empty, or one per component
  std::string comment;                   // what the user wrote behind the declaration
  int components() const { return width * (length == 0 ? 1 : length); }
};

// An argmin or argmax that keeps several places, or that values go along with: component first + m is the j_index in
// place m, the best in place 0.
struct Choice {
  int first = 0, places = 1;
  Reduction reduction = Reduction::ArgMin;
  // Outputs whose component first + m * width + d is that of place m.
  struct Carried {
    int first = 0, width = 1;
    bool operator==(const Carried&) const = default;
  };
  std::vector<Carried> carried;
  bool least() const { return is_minimum(reduction); }
  int last() const { return first + places - 1; }
  bool operator==(const Choice&) const = default;
};

// Those among some fields, of any kind that is a FieldShape, in their order.
template <typename Fields>
std::vector<Choice> choices_of(const Fields& fields) {
  std::vector<Choice> choices;
  for (const FieldShape& field : fields) {
    if (field.role != Role::Output || !keeps_index(field.reduction)) continue;
    Choice choice{field.first, field.components(), field.reduction, {}};
    for (const FieldShape& other : fields)
      if (other.role == Role::Output && other.reduction == Reduction::At && other.follows == field.first)
        choice.carried.push_back({other.first, other.width});
    if (choice.places > 1 || !choice.carried.empty()) choices.push_back(choice);
  }
  return choices;
}

// An array of a param that is read at indices known at run time only. Element k, counted through all rows, is component
// first + k * stride among all params.
struct Table {
  int first = 0, stride = 1, count = 0, columns = 0;
  int power = -1;  // whose coefficient of the cubic splines through the elements (table.h); -1: the elements themselves
  bool operator==(const Table&) const = default;
};

}  // namespace nbcc
