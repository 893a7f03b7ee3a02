// The description of a pipeline's field, which compiler and runtime share: its role, its shape, its reduction and the
// identity of that reduction. Plain data.
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

// Scalar, vector of `width`, or array of `length` of either.
struct FieldShape {
  std::string name;
  Role role = Role::InputI;
  int length = 0;                        // 0: not an array
  int columns = 0;                       // of an array of arrays: elements per row; `length` counts all rows' elements
  bool is_table = false;                 // a param that is read at indices known only at run time
  int width = 1;                         // 1: scalar; 2..4: vec2..vec4, or 2: a complex number
  bool is_complex = false;               // its components are the real and the imaginary part
  int first = 0;                         // index of its first component among all components of its role
  Reduction reduction = Reduction::Sum;  // of an output
  // The number of elements of the caller's array, if the field is a histogram; its components are then the statements
  // that add to the array. 0: no histogram.
  int bins = 0;
  bool total = false;            // an output(total): one value for the run, reduced over i by the runtime
  bool of_pair = false;          // an output(pair): a value of each listed pair, which is not reduced
  int follows = -1;              // of an output(at): first component of its argmin or argmax
  std::vector<double> defaults;  // of a param: empty, or one value per component
  std::string comment;           // the user's comment after the declaration
  int components() const { return width * (length == 0 ? 1 : length); }
  int numbers() const { return bins > 0 ? bins : components(); }  // in a row of the caller's array
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

// The choices among `fields` (any type derived from FieldShape), in the order of the fields.
template <typename Fields>
std::vector<Choice> choices_of(const Fields& fields) {
  std::vector<Choice> choices;
  for (const FieldShape& field : fields) {
    if (field.role != Role::Output || !keeps_index(field.reduction)) continue;
    Choice choice{field.first, field.components(), field.reduction, {}};
    for (const FieldShape& other : fields)
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
