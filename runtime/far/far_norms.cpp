// Weights -> norms of blocks, and their ratios to kept norms. Entry points: the header.
#include "runtime/far/far_norms.h"

#include <cmath>

namespace nbcc {

FarNorms::Norms FarNorms::norms(std::span<const double> column, std::int64_t block) const {
  const FarBlocks blocks{std::int64_t(order_.size())};
  Norms norms;
  for (std::int64_t k = blocks.first(block); k < blocks.first(block + 1); ++k) {
    const double w = column[std::size_t(order_[std::size_t(k)])];
    norms.absolute += std::fabs(w);
    norms.squares += w * w;
    norms.sum += w;
  }
  return norms;
}

void FarNorms::keep(std::span<const std::span<double>> columns, std::span<const std::int64_t> order) {
  order_.assign(order.begin(), order.end());
  kept_.clear();
  for (const std::span<double> column : columns)
    for (std::int64_t block = 0; block < FarBlocks{std::int64_t(order_.size())}.count(); ++block)
      kept_.push_back(norms(column, block));
}

FarChange FarNorms::change_of(std::span<const std::span<double>> columns) const {
  FarChange change;
  auto then = kept_.begin();
  for (const std::span<double> column : columns)
    for (std::int64_t block = 0; block < FarBlocks{std::int64_t(order_.size())}.count(); ++block, ++then) {
      const Norms now = norms(column, block);
      if (now.absolute == 0 && then->absolute == 0) continue;
      const std::array<double, 2> ratios{now.absolute / then->absolute, std::sqrt(now.squares / then->squares)};
      for (const double ratio : ratios) {
        change.least = std::min(change.least, ratio);
        change.largest = std::max(change.largest, ratio);
        // Squares of tiny or huge values have no ratio.
        if (std::isnan(ratio)) change.largest = std::numeric_limits<double>::infinity();
      }
      if (now.absolute > 0 && then->absolute > 0)
        change.turned = std::max(change.turned, std::fabs(now.sum / now.absolute - then->sum / then->absolute));
    }
  return change;
}

}  // namespace nbcc
