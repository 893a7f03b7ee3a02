// Pipelines with a cutoff in every metric and for every kind of reach, and particles for them: what the tests of
// searches share. All results are counts, extremes or sums of whole numbers, so that no order of terms shows.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nbcc::test {

struct Metric {
  const char* name;
  const char* difference;
  const char* of_other_sites = nullptr;  // a second difference: the distance is the smaller one of the two
};
inline constexpr Metric kMetrics[] = {
    {"open", "xj - xi"},
    {"periodic", "nearest_image(xj - xi, box)"},
    {"moving", "nearest_image((xj + 0.5 * vj) - (xi + 0.5 * vi), box)"},
    {"cell", "nearest_image(xj - xi, la, lb, lc)"},
    {"sites", "xj - xi", "xj + 0.125 * vj - xi"},
    {"periodic_sites", "nearest_image(xj - xi, box)", "nearest_image(xj - (xi + 0.25 * vi), box)"},
    {"cell_sites", "nearest_image(xj - xi, la, lb, lc)", "nearest_image(xj + 0.125 * vj - xi, la, lb, lc)"}};
struct ReachOf {
  const char* name;
  const char* bound;
};
inline constexpr ReachOf kReaches[] = {{"uniform", "rc"},
                                       {"of_i", "hi"},
                                       {"of_j", "hj"},
                                       {"larger", "max(hi, hj)"},
                                       {"smaller", "min(hi, hj)"},
                                       {"sum", "0.5 * (hi + hj)"},
                                       {"sum_and_gap", "0.25 * (hi + hj + rc)"},
                                       {"largest", "max(max(hi, hj), 0.5 * rc)"}};

// How a text says that only pairs within `reach` act: what stands before the statements of a pair, and after them.
struct Guard {
  const char* name;
  const char* before;
  const char* after = "";
};
inline constexpr Guard kGuards[] = {
    {"strict", "skip_if(r2 >= reach * reach);"},        {"inclusive", "skip_if(r2 > reach * reach);"},
    {"negated", "skip_if(!(r2 <= reach * reach));"},    {"turned", "skip_if(reach * reach < r2);"},
    {"rooted", "skip_if(sqrt(r2) > reach);"},           {"kept", "if (reach * reach >= r2) {", "}"},
    {"kept_rooted", "if (!(sqrt(r2) >= reach)) {", "}"}};

// Without `guard`: strict, in one condition with what tells i from itself.
std::string text_of(const Metric& metric, const ReachOf& reach, const Guard* guard = nullptr);
// The same without results that keep an index.
std::string text_without_indices_of(const Metric& metric, const ReachOf& reach, const Guard* guard = nullptr);
// The same with positions and reaches alone, and fewer results: what a pair reads of a particle is small. Who is told
// from himself by the distance must be found at exactly the same one.
std::string short_text_of(const Metric& metric, const ReachOf& reach);

struct NeighbourCase {
  std::int64_t ni = 0, nj = 0;  // ni = nj: one set
  std::array<double, 3> box{1e30, 1e30, 1e30};
  std::array<std::array<double, 3>, 3> cell{};
  double rc = 1;
  std::vector<double> xi, vi, hi, ki, xj, vj, hj, kj;
  std::vector<std::int64_t> list;  // the chosen i; empty: all
  std::int64_t i_offset = 0, j_offset = 0;
};

// Uniform, on a lattice (distances of exactly the reach, faces and corners of the box), or in clusters of very
// different sizes; moved by whole boxes where these are given. Some are at no finite position, some very far away.
NeighbourCase random_case(std::uint64_t seed);

// All coordinates, lengths of the box, lattice vectors and reaches are multiples of one number, which floats hold or do
// not (1/4, 0.1, 1/3 ...), or roots of such: many pairs are exactly at the cutoff, but for rounding. No i is a j.
NeighbourCase lattice_case(std::uint64_t seed);

// Results of which one equals another: NaN as a number that nothing else gives.
void make_comparable(std::vector<double>& results);

}  // namespace nbcc::test
