// How a run is divided by i. A limit (memory of histograms or of partial sums, values of totals, pairs that a word can
// take, seconds of a launch, memory of staged chunks, shares of GPUs) gives the number of i in a range; the ranges
// follow each other in the order of the chosen i.
#pragma once
#include <algorithm>
#include <cstdint>

#include "runtime/sum/request/sum_request.h"

namespace nbcc {

// The largest multiple of `multiple`, at least one, of which all i together take at most `limit`.
constexpr std::int64_t i_within(std::int64_t limit, std::int64_t of_one_i, std::int64_t multiple = 1) {
  return std::max<std::int64_t>(limit / of_one_i / multiple, 1) * multiple;
}

// Calls each(begin, count) for ranges of at most `most` of `count` i; most = 0: one range has all.
template <typename Each>
void for_ranges_of_i(std::int64_t count, std::int64_t most, const Each& each) {
  const std::int64_t step = most > 0 ? most : count;
  for (std::int64_t begin = 0; begin < count; begin += step) each(begin, std::min(step, count - begin));
}

// The request for `count` of its chosen i, from the one with this number on.
inline SumRequest with_i(SumRequest request, std::int64_t begin, std::int64_t count) {
  if (request.i_list)
    request.i_list += begin;
  else
    request.i_begin += begin;
  request.i_count = count;
  return request;
}

// The progress of a run whose ranges each report their own.
inline void set_range_of_progress(const SumRequest& run, std::int64_t begin, std::int64_t count) {
  const double all = double(run.i_count);
  if (run.progress) run.progress->set_stage(double(begin) / all, double(begin + count) / all);
}

}  // namespace nbcc
