// Entry points: are_same_particles(), two_sets_warning(). Compares the arrays of corresponding inputs until the first
// difference, which between two sets is among the first particles.
#include "runtime/sum/check/same_particles.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "fmt/format.h"
#include "runtime/sum/check/host_values.h"
#include "runtime/sum/request/plural.h"

namespace nbcc {
namespace {

// The name without the side: "x" of "xi" and "xj", "pos" of "pos_i" and "pos_j"; "" if it does not end so.
std::string_view stem(std::string_view name, char side) {
  return name.size() > 1 && name.back() == side ? name.substr(0, name.size() - 1) : std::string_view();
}

bool are_counterparts(const FieldLayout& i, const FieldLayout& j) {
  return i.role == Role::InputI && j.role == Role::InputJ && FieldType(i) == FieldType(j) &&
         !stem(i.name, 'i').empty() && stem(i.name, 'i') == stem(j.name, 'j');
}

bool are_equal(const ArrayView& a, const ArrayView& b, int components) {
  const std::int64_t count = std::min(a.count, b.count);
  if (a.data == b.data && a.element == b.element && a.stride == b.stride &&
      (a.component_stride == b.component_stride || components == 1))
    return true;
  for (std::int64_t k = 0; k < count; ++k) {
    for (int c = 0; c < components; ++c) {
      const double one = host_value(a, k, c), other = host_value(b, k, c);
      if (one != other && !(one != one && other != other)) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<bool> are_same_particles(const SumState& sum) {
  const std::vector<FieldLayout>& fields = sum.fields();
  std::optional<bool> of_vectors, of_scalars;
  for (const FieldLayout& i : fields) {
    for (const FieldLayout& j : fields) {
      if (!are_counterparts(i, j)) continue;
      const ArrayView a = sum.bound(i.name), b = sum.bound(j.name);
      if (a.data != b.data && !(is_on_host(sum, a) && is_on_host(sum, b))) return {};
      std::optional<bool>& same = i.width > 1 ? of_vectors : of_scalars;
      same = same.value_or(false) || are_equal(a, b, i.components());
    }
  }
  return of_vectors ? of_vectors : of_scalars;
}

std::optional<std::string> two_sets_warning(const SumState& sum, IndexGuard guard) {
  // Of a periodic sum by tolerance, which has no copies of particles, self_pair is true at one place alone.
  if (const CopiesLayout* const copies = sum.kernel().source.copies(); copies && !copies->obstacle.empty()) return {};
  const auto [ni, nj] = sum.counts();
  const std::int64_t lost = std::min(ni, nj);
  if (lost == 0 || are_same_particles(sum).value_or(ni == nj)) return {};
  const std::string pairs =
      guard == IndexGuard::Order
          ? std::string("pairs by the order of their indices")
          : fmt::format("the pairs (k, k), k = 0 to {}, of particle k of i with particle k of j", lost - 1);
  return fmt::format(
      "pipeline '{}': i ({}) and j ({}) are two sets of particles, and a guard that compares i_index with j_index "
      "excludes {}; for two sets remove the guard, or set j_offset = {}, so that no indices are equal; if i is a part "
      "of j, "
      "set i_offset to the index of its first particle",
      sum.kernel().source.pipeline, plural(ni, "particle"), plural(nj, "particle"), pairs, std::max(ni, nj));
}

}  // namespace nbcc
