// A kernel or a row of derived kernels -> the programs that runs load. Entry points: the header.
#include "runtime/image/cuda_programs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/cuda/far/cuda_far_source.h"
#include "runtime/cuda/run/cuda_plain_source.h"
#include "runtime/sum/request/far_choice.h"

namespace nbcc {
namespace {

// Variants of a derived kernel that runs load besides the first launch configuration of its first variant.
struct VariantsOfRow {
  std::string_view row, kernel;  // kernel "": each of the row
  Frame frame;
  bool all;  // all launch configurations, and variants that read in place; else the first configuration
  bool exclusions;
};
constexpr VariantsOfRow kVariants[] = {
    {kPairValuesRow, "", Frame::AllPairs, true, false},
    {"symmetric", "", Frame::Symmetric, true, false},
    {"nearest", "nearest", Frame::Search, true, false},
    // Distant pairs, and pairs of the table of errors.
    {"far", "distant", Frame::Lists, true, false},
    {"far", "measured", Frame::Lists, true, false},
    // All pairs if nothing is distant; the sums of an exact sample, which of a periodic sum are over lists.
    {"far", "near", Frame::AllPairs, false, true},
    {"far", "near", Frame::Lists, true, true},
    {"far", "sample", Frame::AllPairs, true, true},
    {"far", "sample", Frame::Lists, true, true},
    {"matrix units", "", Frame::AllPairs, true, true},
};

// True if runs on a GPU load the kernel. Its sums of excluded pairs are lists of the kernel "near".
bool is_on_gpu(const StoredRow& row, const StoredKernel& kernel) {
  return row.name != "far" || kernel.name != "excluded";
}

bool runs_load(const StoredRow& row, const StoredKernel& derived, const CudaVariant& variant) {
  const KernelVariant& first = derived.source.first();
  const bool is_first = variant.config == derived.source.find(variant.frame)->launches.front();
  if (variant.frame == first.frame && is_first && !variant.exclusions && !variant.reads_in_place) return true;
  if (variant.frame == Frame::IndexChecks) return true;
  return std::ranges::any_of(kVariants, [&](const VariantsOfRow& one) {
    return one.row == row.name && (one.kernel.empty() || one.kernel == derived.name) && one.frame == variant.frame &&
           (one.all || (is_first && !variant.reads_in_place)) && (one.exclusions || !variant.exclusions);
  });
}

void add_plain(std::vector<CudaProgramSource>& programs, KernelSource source) {
  const CudaVariant variant{source.first().frame, source.first().launches.front()};
  programs.push_back({std::make_shared<const KernelSource>(std::move(source)), variant});
}

}  // namespace

std::vector<CudaProgramSource> programs_of_kernel(const KernelSource& kernel) {
  std::vector<CudaProgramSource> programs;
  const auto shared = std::make_shared<const KernelSource>(kernel);
  for (const CudaVariant& variant : all_variants(kernel)) programs.push_back({shared, variant});
  if (kernel.copies() || (kernel.callers && kernel.callers->has_pair_values)) add_plain(programs, copies_source());
  if (std::ranges::any_of(kernel.histograms, &HistogramLayout::of_i)) add_plain(programs, histogram_values_source());
  return programs;
}

std::vector<CudaProgramSource> programs_of_row(const StoredRow& row) {
  std::vector<CudaProgramSource> programs;
  if (!row.obstacle.empty()) return programs;
  for (const StoredKernel& derived : row.kernels) {
    if (!is_on_gpu(row, derived)) continue;
    const auto shared = std::make_shared<const KernelSource>(derived.source);
    for (const CudaVariant& variant : all_variants(derived.source))
      if (runs_load(row, derived, variant)) programs.push_back({shared, variant});
  }
  if (row.name == "matrix units") add_plain(programs, copies_source());
  if (row.name != "far") return programs;
  for (int order = kMinFarOrder; order <= kMaxFarOrder; ++order)
    add_plain(programs, far_grids_source(row.facts.axes, order));
  add_plain(programs, far_tree_source(row.facts.axes));
  add_plain(programs, radix_sort_source());
  add_plain(programs, far_walk_source());
  add_plain(programs, far_particles_source());
  if (row.facts.periods) add_plain(programs, far_images_source());
  return programs;
}

void keep_launches_of_programs(StoredRow& row) {
  for (StoredKernel& derived : row.kernels)
    for (KernelVariant& variant : derived.source.variants) {
      const LaunchConfig first = variant.launches.front();
      std::erase_if(variant.launches, [&](const LaunchConfig& config) {
        return config != first && !runs_load(row, derived, {variant.frame, config});
      });
    }
}

}  // namespace nbcc
