// Nearest neighbours on the CPU: finds the bounds of compiler/passes/derived/nearest.h for the search. Part of
// CpuSummation; the entry point is lower_bounds().
//
// The kernel first runs over some j near each group of i, without a bound. The worst value that it keeps for an i is an
// upper bound of that value over all j, so that a search within this bound finds all j that can be kept. As the bounds
// need not be close, any j will do; those at neighbouring positions in the order of the tree are near. The search adds
// the other j to what the kernel has kept: results are extremes, which do not depend on the order.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/cpu/cpu_sum.h"
#include "runtime/cpu/stopwatch.h"

namespace nbcc {
namespace {

// The number of j that give the first bound, if `kept` of them are kept. More give a smaller bound.
std::int64_t first_j_for(std::int64_t kept) { return std::max<std::int64_t>(48, 3 * kept); }
// Bounds are enlarged by this fraction, because a bound may be rounded to the precision of the kernel.
constexpr double kBoundMargin = 0x1p-12;

}  // namespace

// The output component that holds the worst of the values that an output keeps, and their number.
std::pair<std::size_t, int> CpuSummation::worst_kept() const {
  std::pair<std::size_t, int> found{0, 0};
  for (const FieldLayout& field : source_.fields) {
    // All components of a minimum are the least value. The components of an argmin are the least values in order.
    const int kept = keeps_index(field.reduction) ? field.components() : 1;
    if (field.role != Role::Output || field.reduction == Reduction::At || kept <= found.second) continue;
    found = {std::size_t(field.first + kept - 1), kept};
  }
  return found;
}

// Sums over j near a group without a bound: over so many that each i keeps its number of j, if so many pass the guard.
ParticleTree::Leaves CpuSummation::sum_near_j(const SumRequest& request, std::int64_t group,
                                              CpuSearch::Gathered& gathered, WorkDone& worked) {
  constexpr std::int64_t kMore = 8;
  const auto [component, kept] = worst_kept();
  const Block block = block_of_groups(group, group + 1);
  const auto has_all = [&, component = component] {
    const double* const worst = totals_.values()[component];
    return std::all_of(worst + block.begin, worst + block.end, [](double value) { return std::isfinite(value); });
  };
  for (std::int64_t count = first_j_for(kept);; count *= kMore) {
    Stopwatch watch;
    totals_.reset(block.begin, block.end);
    const ParticleTree::Leaves leaves = search_.gather_near(group, count, gathered);
    watch.add_to(worked.lists);
    sum_gathered(request, group, gathered, worked);
    if (has_all() || count >= request.nj) return leaves;
  }
}

// Replaces the bounds of the block's i, and so their reaches, by those that the totals give.
void CpuSummation::find_bounds(const SumRequest& request, const Block& block) {
  const ArrayView& bounds = request.views[bounds_field()];
  const double* const worst = totals_.values()[worst_kept().first];
  for (std::int64_t at = block.begin; at < block.end; ++at) {
    const double value = worst[at];
    const double now =
        std::isfinite(value) ? value + kBoundMargin * std::fabs(value) : std::numeric_limits<double>::infinity();
    *reinterpret_cast<double*>(static_cast<std::byte*>(bounds.data) + chosen_i_[std::size_t(at)] * bounds.stride) = now;
  }
  pack_block(request, block);
  const auto axes = std::size_t(source_.search.axes);
  const std::int64_t count = block.end - block.begin;
  std::vector<double> located(std::size_t(count) * (axes + 1));
  std::vector<double*> rows;
  for (std::size_t row = 0; row <= axes; ++row)
    rows.push_back(located.data() + std::int64_t(row) * count - block.begin);
  const nbcc_kernel_arguments given = arguments(request, block, totals_);
  code_now_->locate_i(&given, block.begin, block.end, rows.data());
  search_.set_reaches(block.begin, std::span(located).last(std::size_t(count)));
}

std::vector<ParticleTree::Leaves> CpuSummation::lower_bounds(const SumRequest& request, const Block& block,
                                                             CpuSearch::Gathered& gathered, WorkDone& worked) {
  std::vector<ParticleTree::Leaves> summed;
  const std::int64_t end = ceil_div(block.end, std::int64_t(ParticleTree::kLeaf));
  for (std::int64_t group = block.begin / ParticleTree::kLeaf; group < end; ++group)
    summed.push_back(sum_near_j(request, group, gathered, worked));
  find_bounds(request, block);
  return summed;
}

}  // namespace nbcc
