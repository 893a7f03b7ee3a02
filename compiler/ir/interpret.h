// The oracle: executes a pipeline's IR without transformations, every operation in double precision, pair by pair.
// Written to be simple and not to be fast; every backend is tested against it.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// A list of j for each i, in CSR form: the list of i is j[first[i]], ..., j[first[i + 1] - 1].
struct OracleRows {
  std::vector<std::int64_t> first, j;
};

// Component-major: i[c][k] is component c (among all i inputs) of particle k. All columns of a side have the same
// length.
struct OracleInput {
  std::int64_t ni = 0, nj = 0;
  std::vector<std::vector<double>> i, j;
  std::vector<double> params;
  std::int64_t i_offset = 0, j_offset = 0;  // added to i_index and j_index
  std::optional<OracleRows> pairs{};        // the interacting pairs; none: all pairs
  std::vector<std::vector<double>> pair{};  // [component][listed pair]
  std::optional<OracleRows> excluded{};     // pairs excluded from these
  // With every_image() each pair acts once for each image of j that is moved by -m to m times the periodic vector k,
  // where m = images[k].
  std::array<int, 3> images{};
};

// The j that act on i, in the order of j or of the listed pairs, and the indices of these pairs in the list; the images
// of a j follow one another.
struct Acting {
  std::vector<std::int64_t> j, pair;
  std::vector<std::array<int, 3>> image;
};
Acting acting_on(const OracleInput& input, std::int64_t i);

struct OracleOutput {
  // [output component][index in `which`], after finish(); of an output(pair) [component][listed pair]; of a total only
  // [component][0], reduced over `which`; of a histogram [first component][element], or of a histogram of each i [first
  // component][index in `which`][element] without gaps, and nothing in its other components.
  std::vector<std::vector<double>> values;
  std::vector<std::vector<double>> magnitudes;  // sum of |term| (Sum), |value| otherwise; before finish()
};

// Evaluates the i-particles `which` (indices into 0..ni-1; empty means all). An empty sum is 0; an empty min is
// +inf, an empty max -inf (for integers the largest and the smallest of 64 bits), an empty argmin or argmax -1. Sums
// are compensated, in the order of j or of the listed pairs.
// A total is the identity of its reduction if no i is evaluated, that is if ni is 0.
OracleOutput interpret(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which = {});

// The reduction of the values of i to a total, in their order. Sums are compensated.
double total_of(const Field& output, std::span<const double> values);

}  // namespace nbcc
