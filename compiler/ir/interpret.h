// The oracle: executes a pipeline as it stands in the IR, every operation in double precision, one pair after
// the other. Too slow for production, written to be obvious. All backends are held against it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// For each i some numbers of j: those of i are j[first[i]], ..., j[first[i + 1] - 1].
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
  std::optional<OracleRows> pairs{};        // those that act; none: all
  std::vector<std::vector<double>> pair{};  // [component][listed pair]
  std::optional<OracleRows> excluded{};     // ... but for these
};

// The j that act on i, in the order of j or of the listed pairs, and which of these they are.
struct Acting {
  std::vector<std::int64_t> j, pair;
};
Acting acting_on(const OracleInput& input, std::int64_t i);

struct OracleOutput {
  std::vector<std::vector<double>> values;      // [output component][asked i], after finish()
  std::vector<std::vector<double>> magnitudes;  // sum of |term| (Sum), |value| otherwise; before finish()
};

// Evaluates the i-particles `which` (indices into 0..ni-1; empty means all). An empty sum is 0; an empty min is
// +inf, max -inf (of whole numbers the largest and the smallest of 64 bits), argmin and argmax -1. Sums are accumulated
// with compensation, in order of j, or of the listed pairs.
OracleOutput interpret(const Pipeline& pipeline, const OracleInput& input, std::span<const std::int64_t> which = {});

}  // namespace nbcc
