// Entry points: image_warning(), shortest_lattice_vector(). Reads the inputs from which reaches are computed, and no
// positions. Numbers are printed with all digits, because a cutoff may exceed half of a box by the last digit only.
#include "runtime/sum/run/image_warning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compiler/periodic_length.h"
#include "fmt/format.h"
#include "runtime/sum/request/formula.h"

namespace nbcc {
namespace {

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector plus(const Vector& a, double factor, const Vector& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

constexpr double kNoReach = -1;  // the reach is unknown, or there are no particles

// The periodic box of a run, or of one of its groups.
struct Box {
  double shortest = std::numeric_limits<double>::infinity();  // length of the shortest lattice vector
  std::string text;
};

std::optional<Box> box_of(const SearchLayout& search, std::span<const double> params) {
  Box box;
  if (search.triclinic) {
    std::array<double, 9> cell{};
    for (std::size_t k = 0; k < 9; ++k) {
      if (search.cell[k].steps.empty()) return {};
      cell[k] = evaluate(search.cell[k], params);
    }
    box.shortest = shortest_lattice_vector(cell);
    box.text = fmt::format("cell ({}, {}, {}), ({}, {}, {}), ({}, {}, {})", cell[0], cell[1], cell[2], cell[3], cell[4],
                           cell[5], cell[6], cell[7], cell[8]);
    return box;
  }
  for (std::size_t axis = 0; axis < std::size_t(search.axes); ++axis) {
    if (!search.periodic[axis]) continue;
    if (search.lengths[axis].steps.empty()) return {};
    const double length = std::fabs(evaluate(search.lengths[axis], params));
    box.text += fmt::format("{}{}", box.text.empty() ? "box " : " x ", length);
    if (!is_open(length) && length < box.shortest) box.shortest = length;
  }
  return box;
}

// The largest reach of the particles of one side (i or j).
double largest_reach(const KernelSource& kernel, const SumRequest& request, Role role, const Formula& formula,
                     std::span<const double> params, const std::function<bool(const void*)>& can_read) {
  constexpr std::int64_t kChunk = 256;
  if (formula.steps.empty()) return kNoReach;
  std::vector<std::pair<const ArrayView*, int>> views;  // by component of the inputs: its field, component of the field
  std::vector<int> components;
  std::int64_t count = 0;
  for (std::size_t f = 0; f < kernel.fields.size(); ++f) {
    const FieldLayout& field = kernel.fields[f];
    if (field.role != role) continue;
    count = request.views[f].count;
    for (int c = 0; c < field.components(); ++c) views.emplace_back(&request.views[f], c);
  }
  for (const Formula::Step& step : formula.steps)
    if (step.op == Formula::Op::Input) components.push_back(step.component);
  for (const int component : components)
    if (count > 0 && !can_read(views[std::size_t(component)].first->data)) return kNoReach;
  if (components.empty()) return std::fabs(evaluate(formula, params));
  std::vector<std::array<double, kChunk>> columns(components.size());
  std::vector<const double*> inputs(views.size());
  for (std::size_t k = 0; k < components.size(); ++k) inputs[std::size_t(components[k])] = columns[k].data();
  std::array<double, kChunk> reaches{};
  double largest = kNoReach;
  for (std::int64_t begin = 0; begin < count; begin += kChunk) {
    const std::int64_t rows = std::min(kChunk, count - begin);
    for (std::size_t k = 0; k < components.size(); ++k) {
      const auto& [view, component] = views[std::size_t(components[k])];
      pack(*view, component, {begin, nullptr, rows}, {component, Element::Double, Column::Part::Whole},
           columns[k].data());
    }
    evaluate(formula, params, inputs, rows, reaches.data());
    for (const double reach : std::span(reaches).first(std::size_t(rows)))
      if (std::fabs(reach) > largest) largest = std::fabs(reach);
  }
  return largest;
}

double reach_of_run(const KernelSource& kernel, const SumRequest& request, std::span<const double> params,
                    const std::function<bool(const void*)>& can_read) {
  using Kind = SearchLayout::Reach;
  const SearchLayout& search = kernel.search;
  if (search.written == Kind::Uniform)
    return search.written_uniform.steps.empty() ? kNoReach : std::fabs(evaluate(search.written_uniform, params));
  const auto of = [&](bool has, Role role, const Formula& formula) {
    return has ? largest_reach(kernel, request, role, formula, params, can_read) : kNoReach;
  };
  const double i = of(search.written != Kind::OfJ, Role::InputI, search.written_of_i),
               j = of(search.written != Kind::OfI, Role::InputJ, search.written_of_j);
  if (search.written == Kind::Min) return i == kNoReach ? j : j == kNoReach ? i : std::min(i, j);
  if (search.written == Kind::Sum) return std::max(i, 0.0) + std::max(j, 0.0);
  return std::max(i, j);
}

}  // namespace

// In three dimensions a basis is Minkowski-reduced if no basis vector becomes shorter by adding each of the other two
// with a factor of -1, 0 or 1; the shortest basis vector is then a shortest vector of the lattice.
double shortest_lattice_vector(const std::array<double, 9>& cell) {
  std::array<Vector, 3> v{};
  for (std::size_t k = 0; k < 9; ++k) v[k / 3][k % 3] = cell[k];
  const auto length2 = [&](std::size_t k) { return dot(v[k], v[k]); };
  const Vector normal{v[1][1] * v[2][2] - v[1][2] * v[2][1], v[1][2] * v[2][0] - v[1][0] * v[2][2],
                      v[1][0] * v[2][1] - v[1][1] * v[2][0]};
  const double volume = std::fabs(dot(v[0], normal));
  int open = 0;
  for (Vector& vector : v)
    if (is_open(std::sqrt(dot(vector, vector)))) vector = {}, ++open;
  if (open == 0 && !(volume > 0 && std::isfinite(volume))) return std::numeric_limits<double>::quiet_NaN();
  constexpr int kMaxRounds = 1000;
  bool shorter = true;
  for (int round = 0; shorter && round < kMaxRounds; ++round) {
    shorter = false;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t a = (k + 1) % 3, b = (k + 2) % 3;
      if (length2(k) == 0) continue;
      const auto replace = [&](const Vector& tried) {
        if (dot(tried, tried) < length2(k) * (1 - 1e-12)) v[k] = tried, shorter = true;
      };
      for (const std::size_t other : {a, b})
        if (length2(other) > 0) replace(plus(v[k], -std::nearbyint(dot(v[k], v[other]) / length2(other)), v[other]));
      const Vector now = v[k];
      for (int n = 0; n < 9; ++n) {
        replace(plus(plus(now, n / 3 - 1, v[a]), n % 3 - 1, v[b]));
      }
    }
  }
  double shortest2 = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < 3; ++k)
    if (length2(k) != 0) shortest2 = std::min(shortest2, length2(k));
  return std::sqrt(shortest2);
}

std::optional<std::string> image_warning(const KernelSource& kernel, const SumRequest& request,
                                         const std::function<bool(const void*)>& can_read) {
  const SearchLayout& search = kernel.search;
  const bool periodic = search.triclinic || std::ranges::find(search.periodic, true) != search.periodic.end();
  if (search.axes == 0 || !periodic) return {};
  const std::size_t width = std::size_t(kernel.params);
  const std::size_t groups =
      request.params_of_groups.empty() || width == 0 ? 0 : request.params_of_groups.size() / width;
  for (std::size_t group = 0; group < std::max<std::size_t>(groups, 1); ++group) {
    const std::span<const double> params =
        groups == 0 ? request.params : request.params_of_groups.subspan(group * width, width);
    const std::optional<Box> box = box_of(search, params);
    if (!box || !(box->shortest < std::numeric_limits<double>::infinity())) continue;
    const double reach = reach_of_run(kernel, request, params, can_read);
    if (!(reach > box->shortest / 2)) continue;
    // The warning names a batch by the caller's id.
    const bool has_ids = request.lists && !request.lists->batch_ids.empty();
    const std::int64_t number = has_ids ? request.lists->batch_ids[group] : std::int64_t(group);
    return fmt::format(
        "pipeline '{}': the cutoff of {} is more than half of the periodic {}{}, whose shortest period is {}: only "
        "the nearest image of each pair is counted, others within the cutoff are missing; every_image() counts them",
        kernel.pipeline, reach, box->text, groups == 0 ? "" : fmt::format(" of group {}", number), box->shortest);
  }
  return {};
}

}  // namespace nbcc
