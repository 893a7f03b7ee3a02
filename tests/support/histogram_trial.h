// What the tests of histograms share: particles with weights of very different sizes, and the comparison of a run with
// the oracle.
#pragma once
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "particles/error_bounds/error_bound.h"
#include "tests/support/kernel_run.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {

inline std::vector<std::int64_t> from_to(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> all(std::size_t(end - begin));
  std::iota(all.begin(), all.end(), begin);
  return all;
}

// Of a pipeline whose sides have a vec3 position, a real weight and an int kind, and whose param is a cutoff.
inline OracleInput weighted_particles(const Pipeline& pipeline, std::int64_t ni, std::int64_t nj) {
  OracleInput input = random_pipeline_input(pipeline, ni, nj, std::uint64_t(ni * 7 + nj));
  input.params = {1e9};
  for (auto* side : {&input.i, &input.j}) {
    for (std::size_t k = 0; k < (*side)[3].size(); ++k)
      (*side)[3][k] = std::ldexp(1.0 + double(k % 7) / 8, int(k % 30) - 20);
    for (std::size_t k = 0; k < (*side)[4].size(); ++k) (*side)[4][k] = double(k % 13);
  }
  return input;
}

inline void expect_oracle(const Pipeline& pipeline, const Columns& got, const OracleInput& input,
                          std::span<const std::int64_t> which, Precision precision, const std::string& what) {
  const Expectation expected = expect(pipeline, input, which, {.precision = precision}, Target{.fused = false});
  ASSERT_EQ(got.size(), expected.values.size());
  for (std::size_t c = 0; c < got.size(); ++c)
    expect_within(got[c], expected.values[c], expected.bound[c],
                  what + ", " + component_name(pipeline.field_of(Role::Output, int(c)), int(c)));
}

}  // namespace nbcc::test
