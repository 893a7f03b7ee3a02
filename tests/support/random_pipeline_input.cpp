// A random pipeline and a seed -> particles for it, and a device's results -> where they are wrong. Entry points:
// random_pipeline_input() and those beside it in the header. Writes no text.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tests/support/random_pipeline.h"
#include "tests/support/random_source.h"

namespace nbcc::test {
namespace {

double random_value(RandomSource& random, Type type) {
  if (type == Type::Bool) return random.below(2);
  const bool integral = type == Type::Int || type == Type::Index;
  return integral ? double(random.between(-4, 4)) : random.between(-1024, 1023) / 1024.0;
}

}  // namespace

OracleInput random_pipeline_input(const Pipeline& pipeline, std::int64_t ni, std::int64_t nj, std::uint64_t seed) {
  RandomSource random(seed);
  OracleInput input;
  input.ni = ni;
  input.nj = nj;
  input.params.resize(std::size_t(pipeline.components(Role::Param)));
  for (const Field& field : pipeline.fields) {
    if (field.role == Role::Output || field.role == Role::InputPair) continue;
    for (int c = 0; c < field.components(); ++c) {
      if (field.role == Role::Param) {
        const bool given = !field.defaults.empty();
        input.params[std::size_t(field.first + c)] =
            given ? field.defaults[std::size_t(c)] : random_value(random, field.type);
        continue;
      }
      std::vector<double> column(std::size_t(field.role == Role::InputI ? ni : nj));
      for (double& value : column) value = random_value(random, field.type);
      (field.role == Role::InputI ? input.i : input.j).push_back(std::move(column));
    }
  }
  // Small, so that i_index meets j_index nevertheless.
  input.i_offset = random.between(0, 3);
  input.j_offset = random.between(0, 3);
  return input;
}

OracleInput with_poison(const Pipeline& pipeline, OracleInput input, double poison) {
  const auto at = std::size_t(std::min(input.ni, input.nj) - 1);
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::InputJ) continue;
    const Field* const own = field.name == "aj" ? pipeline.find("ai") : nullptr;
    for (int c = 0; c < field.components(); ++c) {
      double& value = input.j[std::size_t(field.first + c)][at];
      if (own)
        value = input.i[std::size_t(own->first + c)][at];
      else if (field.type == Type::Real)
        value = poison;
    }
  }
  return input;
}

namespace {

// NaN is the same as NaN.
bool are_same(const Figures& a, const Figures& b) {
  for (std::size_t c = 0; c < a.size(); ++c)
    for (std::size_t k = 0; k < a[c].size(); ++k)
      if (a[c][k] != b[c][k] && !(std::isnan(a[c][k]) && std::isnan(b[c][k]))) return false;
  return true;
}

}  // namespace

bool adds_nothing(const Pipeline& pipeline, const OracleInput& input, std::int64_t i, std::int64_t j) {
  Pipeline sums = pipeline;
  sums.finished.clear();
  OracleInput one = input;
  one.nj = 1;
  one.j_offset += j;
  for (auto& column : one.j) column = {column[std::size_t(j)]};
  const std::vector<std::int64_t> which{i};
  const OracleOutput with = interpret(sums, one, which);
  one.nj = 0;
  for (auto& column : one.j) column.clear();
  const OracleOutput without = interpret(sums, one, which);
  return are_same(with.values, without.values) && are_same(with.magnitudes, without.magnitudes);
}

Expectation random_pipeline_expectation(const Pipeline& pipeline, const OracleInput& input, Precision precision,
                                        std::int64_t begin, std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count < 0 ? input.ni - begin : count));
  std::iota(all.begin(), all.end(), begin);
  Expectation expected = expect(pipeline, input, all, {.precision = precision}, Target{.fused = false});
  for (std::size_t c = 0; c < expected.bound.size(); ++c) {
    const Field& field = pipeline.field_of(Role::Output, int(c));
    const bool exact = field.type == Type::Int || field.type == Type::Index || field.reduction == Reduction::At;
    if (exact) expected.bound[c].assign(expected.bound[c].size(), 0);
  }
  return expected;
}

std::string random_pipeline_difference(const Pipeline& pipeline, const Figures& got, const Expectation& expected) {
  for (std::size_t c = 0; c < got.size(); ++c) {
    for (std::size_t i = 0; i < got[c].size(); ++i) {
      const double want = expected.values[c][i], is = got[c][i];
      if (is == want || (std::isnan(is) && std::isnan(want)) || std::fabs(is - want) <= expected.bound[c][i]) continue;
      return "output '" + pipeline.field_of(Role::Output, int(c)).name + "' of i " + std::to_string(i) + " is " +
             std::to_string(is) + ", not " + std::to_string(want);
    }
  }
  return "";
}

}  // namespace nbcc::test
