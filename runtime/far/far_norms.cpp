// Weights -> norms of blocks, and their ratios to other norms. Entry points: the header.
#include "runtime/far/far_norms.h"

#include <cmath>

namespace nbcc {

std::vector<FarNorms> norms_of(std::span<const std::span<double>> columns, std::span<const std::int64_t> order) {
  const FarBlocks blocks{std::int64_t(order.size())};
  std::vector<FarNorms> all;
  for (const std::span<double> column : columns)
    for (std::int64_t block = 0; block < blocks.count(); ++block) {
      FarNorms& norms = all.emplace_back();
      for (std::int64_t k = blocks.first(block); k < blocks.first(block + 1); ++k) {
        const double w = column[std::size_t(order[std::size_t(k)])];
        norms.absolute += std::fabs(w);
        norms.squares += w * w;
        norms.sum += w;
      }
    }
  return all;
}

FarChange change_of(std::span<const FarNorms> now, std::span<const FarNorms> then) {
  FarChange change;
  for (std::size_t k = 0; k < now.size(); ++k) {
    if (now[k].absolute == 0 && then[k].absolute == 0) continue;
    for (const double ratio : {now[k].absolute / then[k].absolute, std::sqrt(now[k].squares / then[k].squares)}) {
      change.least = std::min(change.least, ratio);
      change.largest = std::max(change.largest, ratio);
      // Squares of tiny or huge values have no ratio.
      if (std::isnan(ratio)) change.largest = std::numeric_limits<double>::infinity();
    }
    if (now[k].absolute > 0 && then[k].absolute > 0)
      change.turned = std::max(change.turned, std::fabs(now[k].sum / now[k].absolute - then[k].sum / then[k].absolute));
  }
  return change;
}

double share_of_moved(std::span<const double> now, std::span<const double> then, int axes, double far) {
  if (now.size() != then.size()) return 1;
  if (now.empty()) return 0;
  std::size_t moved = 0;
  for (std::size_t k = 0; k < now.size(); k += std::size_t(axes)) {
    bool is_far = false;
    for (std::size_t c = k; c < k + std::size_t(axes); ++c)
      is_far = is_far || std::fabs(now[c] - then[c]) > far || std::isnan(now[c]) != std::isnan(then[c]);
    moved += is_far ? std::size_t(axes) : 0;
  }
  return double(moved) / double(now.size());
}

}  // namespace nbcc
