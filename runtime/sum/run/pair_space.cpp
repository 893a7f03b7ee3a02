// Entry point: pair_space(). Evaluates the formulas of a SearchLayout; reads no particle.
#include "runtime/sum/run/pair_space.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compiler/periodic_length.h"
#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/request/formula.h"
#include "runtime/sum/run/image_warning.h"

namespace nbcc {
namespace {

[[noreturn]] void refuse(const KernelSource& kernel, const std::string& expected, const std::string& got) {
  throw UsageError(fmt::format("pipeline '{}': neighbours of batches and on a GPU: expected {}, got {}",
                               kernel.pipeline, expected, got));
}

double value_of(const KernelSource& kernel, const Formula& formula, std::span<const double> params) {
  if (formula.steps.empty())
    refuse(kernel, "a cutoff and a box that are computed with + - * / of params, sqrt, abs, fma, min, max and pow",
           kernel.search.bound);
  return evaluate(formula, params);
}

// The coordinates of the components of inputs, by their number among all inputs of the role.
std::vector<PairSpace::Coordinate> coordinates(const KernelSource& kernel, Role role) {
  std::vector<PairSpace::Coordinate> all;
  for (const FieldLayout& field : kernel.fields) {
    if (field.role != role) continue;
    const auto& seen = kernel.caller_fields();
    const int number = int(std::ranges::find(seen, field.name, &FieldLayout::name) - seen.begin());
    for (int c = 0; c < field.components(); ++c) all.push_back({number, c});
  }
  return all;
}

void set_positions(PairSpace& space, const KernelSource& kernel) {
  const SearchLayout& search = kernel.search;
  const auto of_i = coordinates(kernel, Role::InputI), of_j = coordinates(kernel, Role::InputJ);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto pair = search.j_positions.size() == 3
                          ? std::ranges::find(search.mirrored, search.j_positions[axis], &std::pair<int, int>::second)
                          : search.mirrored.end();
    if (pair == search.mirrored.end()) refuse(kernel, "positions that are inputs, alike for i and j", search.bound);
    space.of_i[axis] = of_i[std::size_t(pair->first)];
    space.of_j[axis] = of_j[std::size_t(pair->second)];
  }
}

void set_cell(PairSpace& space, const KernelSource& kernel, std::span<const double> params) {
  const SearchLayout& search = kernel.search;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double square = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      double& number = space.cell[3 * axis + c];
      if (search.triclinic) number = value_of(kernel, search.cell[3 * axis + c], params);
      if (!search.triclinic && search.periodic[axis] && c == axis)
        number = std::fabs(value_of(kernel, search.lengths[axis], params));
      square = std::hypot(square, number);
    }
    space.periodic[axis] = !is_open(square);
    if (!space.periodic[axis]) std::fill_n(space.cell.begin() + std::ptrdiff_t(3 * axis), 3, 0.0);
  }
}

}  // namespace

PairSpace pair_space(const KernelSource& kernel, std::span<const double> params) {
  const SearchLayout& search = kernel.search;
  if (kernel.copies())
    refuse(kernel, "nearest_image() or no periodic box",
           "every_image(): a search without a pipeline lists every image");
  if (search.axes != 3) refuse(kernel, "positions of 3 components", std::to_string(search.axes));
  if (search.reach != SearchLayout::Reach::Uniform) refuse(kernel, "one cutoff for all pairs", search.bound);
  PairSpace space;
  space.cutoff = std::fabs(value_of(kernel, search.reach_uniform, params));
  space.inclusive = !search.strict;
  set_positions(space, kernel);
  set_cell(space, kernel, params);
  if (const double shortest = shortest_lattice_vector(space.cell); 2 * space.cutoff > shortest)
    refuse(kernel, fmt::format("a cutoff of at most half of the shortest period of the box, {}", shortest),
           fmt::format("{}: a search without a pipeline lists every image", space.cutoff));
  return space;
}

}  // namespace nbcc
