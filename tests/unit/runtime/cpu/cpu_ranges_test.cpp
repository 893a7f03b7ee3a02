// What the CPU kernel's contract allows (compiler/kernel_source.h), beyond what all pairs need: ranges of j that begin
// at any vector and end anywhere, in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "compiler/source/parse.h"
#include "runtime/cpu/accumulators.h"
#include "tests/support/cpu_run.h"

namespace nbcc {
namespace {

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

const char* const kText =
    "input_i vec3 xi; input_i real hi; input_j vec3 xj; input_j real mj; input_j int kj;\n"
    "output(sum) real u; output(min) real near; output(argmin) index which; output(max) int most;\n"
    "vec3 d = xj - xi; real r2 = dot(d, d) + 0.25; skip_if(i_index == j_index);\n"
    "u += exp(mj) * rsqrt(r2); near = min(near, r2 * hi); which = argmin(which, r2); most = max(most, kj);\n";

// Steps of 1/8, so that r2 is exact and many are equal.
OracleInput particles(std::int64_t ni, std::int64_t nj) {
  OracleInput input;
  input.ni = ni;
  input.nj = nj;
  std::int64_t salt = 0;
  const auto column = [&](std::int64_t n) {
    std::vector<double> values;
    ++salt;
    for (std::int64_t k = 0; k < n; ++k) values.push_back(double((k * k % 89 + k * 5 + salt * 7) % 61 - 30) / 8);
    return values;
  };
  for (int c = 0; c < 4; ++c) input.i.push_back(column(ni));
  for (int c = 0; c < 4; ++c) input.j.push_back(column(nj));
  input.j.push_back(column(nj));
  for (double& whole : input.j.back()) whole = std::floor(whole * 8);
  return input;
}

// All particles of one side, in the kernel's columns.
void pack_all(PackedSide& side, Role role, std::vector<std::vector<double>> columns, const KernelSource& source) {
  const auto count = std::int64_t(columns[0].size()), bytes = 8 * count, padded = round_up(count, source.lanes);
  std::vector<double> flat;
  for (const auto& column : columns) flat.insert(flat.end(), column.begin(), column.end());
  std::vector<ArrayView> views(source.fields.size());
  for (std::size_t f = 0; f < views.size(); ++f)
    if (source.fields[f].role == role)
      views[f] = {flat.data() + source.fields[f].first * count, Element::Double, count, 8, bytes};
  side.reserve(padded);
  side.pack(views, {0, nullptr, count}, 0);
  side.pad(0, count, padded);
}

// By output component and i.
std::vector<std::vector<double>> sums_over(const Ranges& ranges, const OracleInput& input, const KernelSource& source,
                                           const CpuCode& code) {
  PackedSide i(source, Role::InputI), j(source, Role::InputJ);
  pack_all(i, Role::InputI, input.i, source);
  pack_all(j, Role::InputJ, input.j, source);
  Accumulators sums;
  sums.reserve(source, round_up(input.ni, 8));
  sums.reset(0, round_up(input.ni, 8));
  const nbcc_kernel_arguments arguments{i.columns(), j.columns(), nullptr, sums.values(), sums.indices(), 0,
                                        0,           nullptr,     nullptr, nullptr,       nullptr,        nullptr};
  code.prepare_i(&arguments, 0, input.ni);
  code.prepare_j(&arguments, 0, input.nj);
  for (const auto& [begin, end] : ranges) code.interact(&arguments, 0, input.ni, begin, end);
  code.finish(&arguments, 0, input.ni);
  std::vector<std::vector<double>> results;
  for (std::size_t c = 0; c < source.accumulators.size(); ++c) {
    const double* const row = keeps_index(source.accumulators[c].reduction) ? sums.indices()[c] : sums.values()[c];
    results.emplace_back(row, row + input.ni);
  }
  for (double& whole : results[3]) whole = double(std::bit_cast<std::int64_t>(whole));
  return results;
}

void expect_oracles_sums(const Ranges& ranges, const OracleInput& input, const Pipeline& pipeline,
                         const KernelSource& source, const CpuCode& code, double epsilon) {
  const auto got = sums_over(ranges, input, source, code);
  const double relative = 64 * epsilon;
  for (std::int64_t i = 0; i < input.ni; ++i) {
    // The oracle sees the j of the ranges and no others; i itself is left out by hand, since numbers change.
    OracleInput seen = input;
    std::vector<std::int64_t> numbers;
    for (auto& column : seen.j) column.clear();
    for (auto [begin, end] : ranges)
      for (std::int64_t j = begin; j < end; ++j)
        if (j != i) numbers.push_back(j);
    std::sort(numbers.begin(), numbers.end());
    for (std::size_t c = 0; c < seen.j.size(); ++c)
      for (const std::int64_t j : numbers) seen.j[c].push_back(input.j[c][std::size_t(j)]);
    seen.nj = std::int64_t(numbers.size());
    seen.i_offset = input.nj;
    const OracleOutput want = interpret(pipeline, seen, std::vector<std::int64_t>{i});
    const auto at = std::size_t(i);
    EXPECT_NEAR(got[0][at], want.values[0][0], relative * want.magnitudes[0][0]) << "u of " << i;
    EXPECT_NEAR(got[1][at], want.values[1][0], relative * std::fabs(want.values[1][0])) << "near of " << i;
    EXPECT_EQ(got[2][at], double(numbers[std::size_t(want.values[2][0])])) << "which of " << i;
    EXPECT_EQ(got[3][at], want.values[3][0]) << "most of " << i;
  }
}

TEST(cpu_ranges, begin_at_any_vector_and_end_anywhere) {
  const Pipeline pipeline = parse({"ranges.pipe", kText});
  const auto toolchain = make_cpu_toolchain();
  for (const Isa isa : test::runnable_isas())
    for (const Precision precision : {Precision::Mixed, Precision::Double}) {
      SCOPED_TRACE(std::string(name(isa)) + ", " + std::string(name(precision)));
      const KernelSource source = build_cpu_kernel(pipeline, {.precision = precision}, isa, "");
      const auto code = toolchain->load(toolchain->compile(source, source.first()));
      const double epsilon = precision == Precision::Double ? 0x1p-52 : 0x1p-23;
      const std::int64_t vector = source.lanes, tile = source.tile;
      OracleInput input = particles(7, 2 * tile + 3 * vector + 1);
      // What is nearest to the last i stands in the second tile of a range.
      for (std::size_t c = 0; c < 3; ++c) input.i[c].back() = input.j[c][std::size_t(tile + 5 * vector)] = 50;
      // Shorter than a vector; whole vectors; more than a tile, ending within a vector; nothing; up to the end.
      Ranges ranges = {{0, vector - 1},
                       {vector, 4 * vector},
                       {4 * vector, tile + 6 * vector + 1},
                       {tile + 7 * vector, tile + 7 * vector},
                       {tile + 8 * vector, input.nj}};
      expect_oracles_sums(ranges, input, pipeline, source, *code, epsilon);
      std::reverse(ranges.begin(), ranges.end());
      expect_oracles_sums(ranges, input, pipeline, source, *code, epsilon);
    }
}

}  // namespace
}  // namespace nbcc
