// Values of i and words of histograms -> the caller's totals. Entry point: SumState::store_totals().
#include "runtime/sum/histograms.h"
#include "runtime/sum/sum.h"
#include "runtime/sum/totals.h"

namespace nbcc {

// After the last part of a run.
void SumState::store_totals(const SumRequest& request) {
  if (!ends(request.j_part)) return;
  if (totals_) totals_->reduce(request);
  if (histograms_) store_histograms(*histograms_, kernel_->source, views_, request.accumulate, *summation_);
}

}  // namespace nbcc
